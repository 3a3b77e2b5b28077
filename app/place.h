// Places of a script in a recording.
#pragma once

#include <string>

#include "app/opening.h"
#include "app/script.h"
#include "core/trace/store.h"
#include "viz/frame.h"

namespace attn::app {

/// What is selected there; what the place does not say is the default. `where` is the place in the file, for
/// messages. Throws InputError naming what exists when a part is out of range.
viz::Selection selection_of(const Place& place, const trace::Store& store, const std::string& where);

/// What a link says.
Place place_of(const Link& link);

/// `more` over `base`: what it does not say is the base's.
Place over(const Place& base, const Place& more);

/// The cursor of a selection, and the selection with its cursor moved.
trace::Cursor cursor_of(const viz::Selection& selection);
viz::Selection moved_to(viz::Selection selection, const trace::Cursor& cursor);

}  // namespace attn::app

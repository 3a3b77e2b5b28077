// What the learner does at a stop, as a script writes it: tasks, what is broken, and what can be turned.
#pragma once

#include <optional>

#include "app/object_reader.h"
#include "app/script_read.h"

namespace attn::app {

/// "break_it" of a stop, or one of its tasks; `what` names the run that its switches give.
std::optional<Exercise> read_exercise(ObjectReader& object, const char* key, const Stop& stop,
                                      const char* what, RunTable& runs);
/// "task": one, or a list of them.
void read_tasks(ObjectReader& object, Stop& stop, RunTable& runs);
/// "controls" and "send": what the stop says takes the place of what it was nested in.
void read_controls(ObjectReader& object, Stop& stop, const RunTable& runs);

}  // namespace attn::app

// The facts that a script names, checked while it is read: a misspelt one is an error of the file.
#pragma once

#include <string>
#include <vector>

#include "app/object_reader.h"
#include "app/script_read.h"

namespace attn::app {

/// A text with {fact} placeholders; "" when it is not there. Throws InputError with the line of the key.
std::string read_fact_text(ObjectReader& object, const char* key, const RunTable& runs);
/// A list of such texts; false when it is not there.
bool read_fact_texts(ObjectReader& object, const char* key, const RunTable& runs,
                     std::vector<std::string>& texts);
/// "expect": facts and what they must come to, in the order of the file.
std::vector<Expectation> read_expect(ObjectReader& object, const RunTable& runs);

}  // namespace attn::app

// Facts: the numbers that a lesson names, each read from what a run recorded or from a kernel launched again
// with its probe. One table (facts()) serves captions, expectations and the documentation.
//
//   fact      := [b.] name [ '[' argument ']' ] [ '@' run ] [ ' / ' fact ]
//   argument  := a request's label or number | a number | steps "2..33" | a name, as the fact's entry says
//
//   cu_seqlens_q                      of this step
//   block_table[A]                    of request A
//   score_dots[2..33]@cache off       summed over steps 2 to 33 of the run of that name
//   b.stolen                          of side B of the stop's comparison
//   score_dots@cache off / score_dots the quotient of two numbers
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/trace/compare.h"
#include "core/trace/fact_value.h"
#include "core/trace/inspector.h"
#include "core/trace/store.h"

namespace attn::trace {

class FactScope;

/// What stands in the brackets behind a fact's name.
enum class FactArgument : std::uint8_t {
  none,
  sequence,  // may be left out: the place's, or the first of the batch
  index,     // a number; may be left out: the place's
  steps,     // "2..33"; may be left out: this step
  name       // must be there
};

struct Fact {
  std::string_view name;
  FactKind kind;
  FactArgument argument;
  std::string_view text;  // what it is, for the documentation: one line
  FactValue (*value)(const FactScope& scope);
  bool of_two_runs = false;   // needs "@run": this run against that one
  bool of_whole_run = false;  // of all its steps: a run that is still going on does not know it
};

/// All of them, in groups.
const std::vector<Fact>& facts();

/// Where a fact is asked for: the engine's step number, and what is looked at. -1 = nothing chosen; row and
/// col count within the sequence.
struct FactPlace {
  int step = 1;
  int layer = 0;
  int head = 0;
  int seq = -1;
  int row = -1;  // the last query row
  int col = -1;
  int tile = -1;
  int block = -1;
  std::optional<std::pair<Variant, Variant>> compare = {};
};

/// A run that facts are read from.
struct FactSource {
  std::shared_ptr<const Store> store;
  Inspector* inspector = nullptr;  // null: facts of kernels are refused
};
/// The run of that name; "" is the one that the place is in.
using FactRuns = std::function<FactSource(std::string_view run)>;

/// A fact as it is written, taken apart.
struct FactCall {
  const Fact* fact = nullptr;
  std::string argument;  // "" = not given
  std::string run;       // "" = the place's own
  bool side_b = false;
  std::shared_ptr<const FactCall> divisor;

  bool of_whole_run() const { return fact->of_whole_run || (divisor && divisor->of_whole_run()); }
};

/// Throws InputError for an unknown name (with the nearest known one), an argument that is missing or too
/// much, or a run that a fact does not take.
FactCall parse_fact(std::string_view text);

/// Throws InputError when the fact is not there: another kind of step, a sequence that is not in it, ...
FactValue evaluate(const FactCall& call, const FactPlace& place, const FactRuns& runs);

/// A text with {fact} and {fact:.1%} in it; "{{" and "}}" are braces. Throws InputError as above.
std::string fill_in(std::string_view text, const FactPlace& place, const FactRuns& runs);
/// The facts that a text names, all of them parsed.
std::vector<FactCall> facts_in(std::string_view text);

}  // namespace attn::trace

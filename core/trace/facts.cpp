#include "core/trace/facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/engine/nearest.h"
#include "core/trace/fact_scope.h"
#include "kernels/common/check.h"

namespace attn::trace {
namespace {

constexpr std::string_view kDivided = " / ";

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

const Fact& fact_named(std::string_view name) {
  const auto found = std::ranges::find(facts(), name, &Fact::name);
  if (found != facts().end()) return *found;
  std::vector<std::string> names;
  for (const Fact& fact : facts()) names.emplace_back(fact.name);
  const std::string near = suggest(name, names);
  throw InputError(fmt::format("there is no fact '{}'; {}", name,
                               near.starts_with("known") ? "AUTHORING.md lists them" : near));
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_step_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  return dots == std::string_view::npos ? is_number(text)
                                        : is_number(text.substr(0, dots)) && is_number(text.substr(dots + 2));
}

/// Throws when what stands in the brackets is not what the fact takes.
void check_argument(const Fact& fact, std::string_view argument) {
  const auto refuse = [&](std::string_view hint) {
    throw InputError(fmt::format("the fact '{}' is asked for '{}'; {}", fact.name, argument, hint));
  };
  if (fact.argument == FactArgument::none && !argument.empty()) refuse("it takes nothing in brackets");
  if (fact.argument == FactArgument::name && argument.empty()) refuse("say of what: a name in brackets");
  if (fact.argument == FactArgument::index && !argument.empty() && !is_number(argument))
    refuse("give a number");
  if (fact.argument == FactArgument::steps && !argument.empty() && !is_step_range(argument)) {
    refuse("give steps: 2..33");
  }
}

FactCall parse_one(std::string_view text) {
  FactCall call;
  constexpr std::string_view kSideB = "b.";
  if (text.starts_with(kSideB)) {
    call.side_b = true;
    text.remove_prefix(kSideB.size());
  }
  const std::size_t bracket = text.find('[');
  const std::size_t closed = bracket == std::string_view::npos ? bracket : text.find(']', bracket);
  const std::size_t at = text.find('@', closed == std::string_view::npos ? 0 : closed);
  if (at != std::string_view::npos) {
    call.run = trimmed(text.substr(at + 1));
    text = trimmed(text.substr(0, at));
  }
  if (bracket < text.size()) {
    if (!text.ends_with(']')) throw InputError(fmt::format("'{}' has no ']'; close the bracket", text));
    call.argument = trimmed(text.substr(bracket + 1, text.size() - bracket - 2));
    text = trimmed(text.substr(0, bracket));
  }
  call.fact = &fact_named(text);
  check_argument(*call.fact, call.argument);
  if (call.fact->of_two_runs && call.run.empty()) {
    throw InputError(fmt::format("the fact '{}' is of two runs; name the other one: {}@RUN", text, text));
  }
  return call;
}

FactValue value_of(const FactCall& call, const FactPlace& place, const FactRuns& runs) {
  const bool two = call.fact->of_two_runs;
  const FactScope scope(runs(two ? std::string_view() : call.run), place, call,
                        two ? runs(call.run) : FactSource());
  try {
    return call.fact->value(scope);
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("the fact '{}' is not known at step {}: {}", call.fact->name, place.step, error.what()));
  }
}

/// Calls text(piece) for what stands between placeholders and fact(name, format) for those.
template <class OnText, class OnFact>
void walk(std::string_view text, OnText&& on_text, OnFact&& on_fact) {
  while (!text.empty()) {
    const std::size_t brace = text.find_first_of("{}");
    on_text(text.substr(0, brace));
    if (brace == std::string_view::npos) return;
    if (brace + 1 < text.size() && text[brace + 1] == text[brace]) {
      on_text(text.substr(brace, 1));
      text.remove_prefix(brace + 2);
      continue;
    }
    const std::size_t end = text.find('}', brace + 1);
    if (text[brace] == '}' || end == std::string_view::npos) {
      throw InputError(fmt::format("a brace stands alone in \"{}\"; write {{{{ and }}}} for braces", text));
    }
    std::string_view inside = text.substr(brace + 1, end - brace - 1), format;
    if (const std::size_t colon = inside.rfind(':'); colon != std::string_view::npos) {
      if (is_number_format(inside.substr(colon + 1))) {
        format = inside.substr(colon + 1);
        inside = inside.substr(0, colon);
      } else if (inside.find_first_of("[@") == std::string_view::npos) {  // names of runs may have a colon
        throw InputError(no_number_format(inside.substr(colon + 1)));
      }
    }
    on_fact(inside, format);
    text.remove_prefix(end + 1);
  }
}

}  // namespace

const std::vector<Fact>& facts() {
  static const std::vector<Fact> kFacts = [] {
    std::vector<Fact> all;
    for (const auto& group :
         {batch_facts(), pool_facts(), cost_facts(), attention_facts(), compare_facts()}) {
      all.insert(all.end(), group.begin(), group.end());
    }
    return all;
  }();
  return kFacts;
}

FactCall parse_fact(std::string_view text) {
  const std::size_t divided = text.find(kDivided);
  FactCall call = parse_one(trimmed(text.substr(0, divided)));
  if (divided == std::string_view::npos) return call;
  call.divisor = std::make_shared<const FactCall>(parse_fact(text.substr(divided + kDivided.size())));
  if (call.fact->kind != FactKind::number || call.divisor->fact->kind != FactKind::number) {
    throw InputError(fmt::format("'{}' divides what is no number; divide number facts only", text));
  }
  return call;
}

FactValue evaluate(const FactCall& call, const FactPlace& place, const FactRuns& runs) {
  FactValue value = value_of(call, place, runs);
  if (!call.divisor) return value;
  return value.number() / evaluate(*call.divisor, place, runs).number();
}

std::string fill_in(std::string_view text, const FactPlace& place, const FactRuns& runs) {
  std::string out;
  walk(
      text, [&](std::string_view piece) { out += piece; },
      [&](std::string_view fact, std::string_view format) {
        out += text_of(evaluate(parse_fact(fact), place, runs), format);
      });
  return out;
}

std::vector<FactCall> facts_in(std::string_view text) {
  std::vector<FactCall> calls;
  walk(
      text, [](std::string_view) {},
      [&](std::string_view fact, std::string_view) { calls.push_back(parse_fact(fact)); });
  return calls;
}

}  // namespace attn::trace

#include "app/script_facts.h"

#include <algorithm>
#include <charconv>

#include "core/trace/facts.h"

namespace attn::app {
namespace {

/// Puts the place into a sentence "what is wrong; what to do".
[[noreturn]] void refuse(const InputError& error, const std::string& where) {
  std::string text = error.what();
  text.insert(std::min(text.find("; "), text.size()), fmt::format(" ({})", where));
  throw InputError(text);
}

void check_runs(const trace::FactCall& call, const RunTable& runs) {
  if (!runs.has(call.run)) {
    throw InputError(fmt::format("there is no run '{}'; {}", call.run, suggest(call.run, runs.names())));
  }
  if (call.divisor) check_runs(*call.divisor, runs);
}

void check_expectation(const Expectation& expectation, const nlohmann::json& value, const RunTable& runs) {
  const trace::FactCall call = trace::parse_fact(expectation.fact);
  check_runs(call, runs);
  if (const std::string why = trace::why_no_expectation(call.fact->kind, value); !why.empty()) {
    throw InputError(fmt::format("the fact '{}' cannot be {}; {}", expectation.fact, expectation.value, why));
  }
}

void check_text(const std::string& text, const std::string& where, const RunTable& runs) {
  try {
    for (const trace::FactCall& call : trace::facts_in(text)) check_runs(call, runs);
  } catch (const InputError& error) {
    refuse(error, where);
  }
}

/// The line that a place ("file.json:12") names; 0 when it is no line.
int line_of(const std::string& where) {
  int line = 0;
  const char* digits = where.data() + where.rfind(':') + 1;
  std::from_chars(digits, where.data() + where.size(), line);
  return line;
}

}  // namespace

std::string read_fact_text(ObjectReader& object, const char* key, const RunTable& runs) {
  std::string text;
  if (object.read(key, text)) check_text(text, object.where(key), runs);
  return text;
}

bool read_fact_texts(ObjectReader& object, const char* key, const RunTable& runs,
                     std::vector<std::string>& texts) {
  if (!object.read(key, texts)) return false;
  for (const std::string& text : texts) check_text(text, object.where(key), runs);
  return true;
}

std::vector<Expectation> read_expect(ObjectReader& object, const RunTable& runs) {
  std::vector<Expectation> expect;
  auto facts = object.object("expect");
  if (!facts) return expect;
  for (const std::string& fact : facts->keys()) {
    const nlohmann::json& value = *facts->raw(fact.c_str());
    expect.push_back({fact, value.dump(), facts->where(fact)});
    try {
      check_expectation(expect.back(), value, runs);
    } catch (const InputError& error) {
      refuse(error, expect.back().where);
    }
  }
  std::ranges::stable_sort(expect, {}, [](const Expectation& e) { return line_of(e.where); });  // as written
  return expect;
}

}  // namespace attn::app

// Reading a script out of a scenario's file.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include "app/object_reader.h"
#include "app/scenario.h"

namespace attn::app {

/// A document as a scenario, its script left out.
using ReadScenario = std::function<Scenario(const LocatedJson& document)>;

/// The document without what only a script has: what is run, not how it is shown.
LocatedJson without_script(const LocatedJson& document);
/// For finish(): these keys are read later.
void know_script_keys(ObjectReader& root);

/// Reads the script's keys (runs, film, begin, about, size, fps, theme, mode) of `root`, which is the whole
/// `document`. `scenario` is what the rest of it says. Relative paths count from `folder`. Throws InputError.
Script read_script(ObjectReader& root, const LocatedJson& document, const Scenario& scenario,
                   const std::filesystem::path& folder, const ReadScenario& read_scenario);

/// The runs of a script while it is read: each is the document with some values changed.
class RunTable {
 public:
  RunTable(const LocatedJson& document, const Scenario& scenario, const ReadScenario& read_scenario)
      : base_(without_script(document)), scenario_(scenario), read_scenario_(read_scenario) {}

  /// {"name": "cache off", "set": {...}, "requests": [...], "tensors": "...", "max_steps": 9}
  void read(ObjectReader& object, const std::string& pointer);
  /// A run made of another one by a "set" object; returns its name.
  std::string change(const std::string& from, const std::string& name, ObjectReader& set);
  /// A run made of another one whose requests are those that were sent, when they were; returns its name.
  /// What is wrong is said with the place of "sent" in `object`.
  std::string send(const std::string& from, const std::string& name, const std::vector<SentRequest>& sent,
                   ObjectReader& object);
  bool has(const std::string& name) const {
    return name.empty() || name == kMainRun || documents_.contains(name);
  }
  std::vector<std::string> names() const;
  const Scenario& scenario(const std::string& name) const;
  std::vector<Run> take() { return std::move(runs_); }

 private:
  const LocatedJson& document(const std::string& name) const;
  void add(const std::string& name, LocatedJson document);

  const LocatedJson base_;
  const Scenario& scenario_;
  const ReadScenario& read_scenario_;
  std::map<std::string, LocatedJson> documents_;
  std::vector<Run> runs_;
};

/// Reads stop after stop, nested ones flattened, into `stops`.
void read_stops(ObjectReader& root, RunTable& runs, const std::filesystem::path& folder,
                std::vector<Stop>& stops);

/// Reads where a film without stops begins. PRECOND: the stops are read.
void read_begin(ObjectReader& root, const Scenario& scenario, Script& script);

}  // namespace attn::app

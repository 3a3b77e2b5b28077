// Where steps come from: a live recording in memory or a trace file. Readers do not care which.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/trace/step_record.h"

namespace attn::trace {

/// Thread-safe for any number of readers beside one writer.
class Store {
 public:
  virtual ~Store() = default;
  virtual const Manifest& manifest() const = 0;
  virtual int num_steps() const = 0;                                    // grows while recording
  virtual std::shared_ptr<const StepRecord> step(int index) const = 0;  // index, not StepRecord::step
  /// Slots that step `index` wrote, row by row (-1: none); a file gives them without decoding the step.
  /// Empty when the step stored nothing.
  virtual std::vector<std::int32_t> slot_mapping(int index) const {
    const auto record = step(index);
    return record->stored ? record->slot_mapping : std::vector<std::int32_t>();
  }
  /// Text of a token id as recorded up to now; "" when the id never occurred.
  virtual std::string token_text(std::int32_t id) const = 0;
  /// "" or one sentence, e.g. that the file was cut short and how many whole steps remain.
  virtual std::string note() const = 0;
};

}  // namespace attn::trace

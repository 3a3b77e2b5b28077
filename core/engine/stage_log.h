// Writes what a forward does into the step's record: which kernels a stage launched, which shapes its
// tensors have.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/step_record.h"
#include "kernels/device.h"

namespace attn {

/// Lives for one forward; collects the device's launches while it does.
class StageLog {
 public:
  /// Called with every stage that is entered.
  using Watch = std::function<void(trace::Stage stage, int layer)>;
  StageLog(Device& device, trace::StepRecord& record, Watch watch = {});
  ~StageLog();
  StageLog(const StageLog&) = delete;
  StageLog& operator=(const StageLog&) = delete;

  /// Launches and shapes from here on belong to this stage (of this layer, -1: of none).
  void enter(trace::Stage stage, int layer = -1);
  void shape(std::string_view name, std::string_view dtype, std::vector<std::int64_t> shape,
             std::string note = {});

 private:
  void flush();

  Device& device_;
  trace::StepRecord& record_;
  const Watch watch_;
  trace::Stage stage_ = trace::Stage::prepare;
  int layer_ = -1;
  std::vector<LaunchRecord> launches_;
  std::vector<LaunchRecord>* outer_;  // the log that was there before
};

}  // namespace attn

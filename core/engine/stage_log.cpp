#include "core/engine/stage_log.h"

#include <utility>

namespace attn {

StageLog::StageLog(Device& device, trace::StepRecord& record, Watch watch)
    : device_(device),
      record_(record),
      watch_(std::move(watch)),
      outer_(std::exchange(device.context().log, &launches_)) {}

StageLog::~StageLog() {
  flush();
  device_.context().log = outer_;
}

void StageLog::enter(trace::Stage stage, int layer) {
  flush();
  stage_ = stage;
  layer_ = layer;
  if (watch_) watch_(stage, layer);
  device_.context().throw_if_stopped();
}

void StageLog::shape(std::string_view name, std::string_view dtype, std::vector<std::int64_t> shape,
                     std::string note) {
  record_.shapes.push_back({.stage = stage_,
                            .layer = layer_,
                            .name = std::string(name),
                            .dtype = std::string(dtype),
                            .shape = std::move(shape),
                            .note = std::move(note)});
}

void StageLog::flush() {
  for (LaunchRecord& launch : launches_) record_.launches.push_back({stage_, layer_, std::move(launch)});
  launches_.clear();
}

}  // namespace attn

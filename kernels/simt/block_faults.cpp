// What a BlockRunner says when something is wrong.
#include <algorithm>
#include <optional>
#include <tuple>

#include "kernels/common/check.h"
#include "kernels/simt/block_runner.h"

namespace attn::simt {

std::string BlockRunner::where(bool name_thread) const {
  std::string text = fmt::format("kernel {}, block {}", launch_->kernel,
                                 index_text(block_index_.x, block_index_.y, block_index_.z));
  if (name_thread) {
    const on_simt::uint3 index = threads_[thread_id()].index;
    text += fmt::format(", thread {}", index_text(index.x, index.y, index.z));
  }
  return text;
}

void BlockRunner::refuse_outside_kernel(const char* what) {
  throw DeviceError(fmt::format("{} was called outside a kernel", what));
}

void BlockRunner::refuse(const std::string& message) const {
  throw DeviceError(fmt::format("{}: {}", where(true), message));
}

void BlockRunner::check_guards(bool name_thread) {
  const auto check = [&](GuardedBlock& block, const std::string* label) {
    const std::optional<std::ptrdiff_t> damage = block.find_damage();
    if (!damage) return;
    block.repair_guards();
    const std::string what = label ? fmt::format("buffer '{}'", *label) : "dynamic shared memory";
    throw DeviceError(
        fmt::format("{}: {}{}", where(name_thread), describe_damage(block, what, *damage),
                    name_thread ? "" : " (found after the block; strict mode names the thread)"));
  };
  for (DeviceBuffer* buffer : launch_->watched) check(buffer->block, &buffer->label);
  if (shared_) check(*shared_, nullptr);
}

/// Threads that share a fate are told together: how many, the first of them, what it waits in and where.
std::exception_ptr BlockRunner::divergence() const {
  struct Fate {
    std::string text;
    unsigned first = 0;
    unsigned count = 0;
  };
  std::vector<Fate> fates;
  for (unsigned t = 0; t < num_threads_; ++t) {
    const Thread& thread = threads_[t];
    std::string text = "exited";
    if (!((warps_[t / kWarpSize].exited >> (t % kWarpSize)) & 1U)) {
      text = fmt::format("at {}", thread.what);
      if (thread.mask != 0) text += fmt::format(" with mask {:#010x}", thread.mask);
      text += fmt::format(" ({}:{})", thread.site.file_name(), thread.site.line());
    }
    auto fate = std::find_if(fates.begin(), fates.end(), [&](const Fate& f) { return f.text == text; });
    if (fate == fates.end()) fate = fates.insert(fates.end(), {std::move(text), t, 0});
    ++fate->count;
  }
  std::string message = where(false) + ": threads wait for others that cannot come: ";
  for (std::size_t i = 0; i < fates.size(); ++i) {
    const on_simt::uint3 first = threads_[fates[i].first].index;
    const std::string name = index_text(first.x, first.y, first.z);
    if (i > 0) message += "; ";
    message += fates[i].count == 1
                   ? fmt::format("thread {} {}", name, fates[i].text)
                   : fmt::format("thread {} and {} more {}", name, fates[i].count - 1, fates[i].text);
  }
  return std::make_exception_ptr(DeviceError(message));
}

}  // namespace attn::simt

// Relaunches the real attention kernel of a recorded step with its probe on, on the inputs as they
// were then, and checks that it gives the recorded output.
#pragma once

#include <memory>

#include "core/trace/attention_view.h"
#include "core/trace/store.h"
#include "kernels/device.h"

namespace attn::trace {

class Inspector {
 public:
  /// Owns its use of `device`; one thread at a time.
  Inspector(Device& device, std::shared_ptr<const Store> store);
  ~Inspector();
  /// `index` counts steps in the store, `layer` is a layer recorded in that step; throws InputError
  /// saying which layers are recorded otherwise. The K/V pool is rebuilt from the rows that earlier
  /// steps wrote (slot by slot, poison elsewhere).
  std::shared_ptr<const AttentionView> inspect(int index, int layer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn::trace

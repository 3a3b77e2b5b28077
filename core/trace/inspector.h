// Relaunches the real attention kernel of a recorded step with its probe on, on the inputs as they
// were then, and checks that it gives the recorded output.
#pragma once

#include <memory>

#include "core/trace/attention_view.h"
#include "core/trace/compare.h"
#include "core/trace/store.h"
#include "kernels/device.h"

namespace attn::trace {

/// The query that one looks at. It matters in batches so large that only a window of their query rows is
/// inspected: the window is the one that holds this row, and it is the same for all rows in it.
struct Focus {
  int seq = -1;  // sequence id; not in the step: the first of the batch
  int row = -1;  // query row within the sequence; -1 or out of range: the last
  bool operator==(const Focus&) const = default;
};

class Inspector {
 public:
  /// Owns its use of `device`; one thread at a time.
  Inspector(Device& device, std::shared_ptr<const Store> store);
  ~Inspector();
  /// `index` counts steps in the store, `layer` is a layer recorded in that step; throws InputError
  /// saying which layers are recorded otherwise. The K/V pool is rebuilt from the rows that earlier
  /// steps wrote (slot by slot, poison elsewhere). Of a large batch the view holds a window of query rows
  /// (AttentionView::has_row); its o is compared with the recorded rows all the same.
  std::shared_ptr<const AttentionView> inspect(int index, int layer, const Focus& focus = {});
  /// Both sides launched on the recorded inputs of that step and layer. A side that was launched before is
  /// kept for a while: switching between variants launches only what is new. Throws InputError for a variant
  /// that this step cannot run (another kind of path, no block tables, a level the kernels do not have).
  std::shared_ptr<const CompareView> compare(int index, int layer, const Variant& a, const Variant& b,
                                             const Focus& focus = {});
  /// K of the whole batch as gather + flatten read it out of the pool: [cu_seqlens_k[B], Hkv, D]. Throws
  /// InputError when the step has no block tables.
  TensorRecord gathered_keys(int index, int layer);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attn::trace

// cp.async on the emulator: a copy happens only when its group is waited for, as late as a GPU may make it.
// Until then the destination holds what it held before (NaN at a block's start), so a wait that is missing
// or one group short shows.
#pragma once

#include <deque>

namespace attn::simt {

/// What one thread has asked for and not yet waited for, in order.
struct AsyncCopies {
  struct Copy {
    void* to;
    const void* from;  // null: 16 zero bytes
    unsigned group;
  };
  std::deque<Copy> pending;
  unsigned committed = 0;  // groups
};

/// Notes a copy of 16 bytes, or of zeros when not `valid`: `from` is not read then.
void copy_async(void* to, const void* from, bool valid);
void commit_async();
/// Makes all copies but those of the last `groups_left` committed groups.
void wait_async(unsigned groups_left);

}  // namespace attn::simt

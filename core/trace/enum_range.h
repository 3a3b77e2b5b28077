// The largest value of every recorded enum: what a reader accepts and what a search by name runs over.
#pragma once

#include "core/engine/config.h"
#include "core/trace/step_record.h"
#include "kernels/common/dtype.h"

namespace attn::trace {

template <class E>
inline constexpr E kLastOf = E::no_such_enumerator;  // a new enum needs its line below

template <>
inline constexpr DType kLastOf<DType> = DType::bf16;
template <>
inline constexpr MaskAlignment kLastOf<MaskAlignment> = MaskAlignment::none;
template <>
inline constexpr HeadMap kLastOf<HeadMap> = HeadMap::modulo;
template <>
inline constexpr DecodePath kLastOf<DecodePath> = DecodePath::gather_padded;
template <>
inline constexpr PrefillPath kLastOf<PrefillPath> = PrefillPath::gather_flatten;
template <>
inline constexpr FreeListOrder kLastOf<FreeListOrder> = FreeListOrder::scrambled;
template <>
inline constexpr HashPolicy kLastOf<HashPolicy> = HashPolicy::old;
template <>
inline constexpr Scores kLastOf<Scores> = Scores::minus_two;
template <>
inline constexpr StepKind kLastOf<StepKind> = StepKind::decode;
template <>
inline constexpr SeqStatus kLastOf<SeqStatus> = SeqStatus::finished;
template <>
inline constexpr Stage kLastOf<Stage> = Stage::commit;
template <>
inline constexpr AttentionPath kLastOf<AttentionPath> = AttentionPath::decode_gather_padded;
template <>
inline constexpr EventKind kLastOf<EventKind> = EventKind::poison;

}  // namespace attn::trace

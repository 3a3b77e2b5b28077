// CUDA's atomics for g++. Blocks run on several OS threads, so these are real atomics; sequentially
// consistent, which makes the usual "write, __threadfence, atomicAdd" hand-over between blocks sound here.
#pragma once

#include <atomic>
#include <type_traits>

namespace attn::simt {

template <class T>
concept AtomicNumber = std::is_same_v<T, int> || std::is_same_v<T, unsigned> ||
    std::is_same_v<T, unsigned long long> || std::is_same_v<T, float> || std::is_same_v<T, double>;

/// *address = change(*address) as one atomic step; returns the old value.
template <class T, class F>
T atomic_update(T* address, F change) {
  std::atomic_ref<T> cell(*address);
  T old = cell.load();
  while (!cell.compare_exchange_weak(old, change(old))) {
  }
  return old;
}

}  // namespace attn::simt

namespace attn::on_simt {

// The value's type is a non-deduced context: atomicAdd(&counter_u64, 1) converts as CUDA's overloads do.
template <simt::AtomicNumber T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_add(value);
}
template <simt::AtomicNumber T>
T atomicSub(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_sub(value);
}
template <simt::AtomicNumber T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).exchange(value);
}
template <simt::AtomicNumber T>
requires std::is_integral_v<T> T atomicMax(T* address, std::type_identity_t<T> value) {
  return simt::atomic_update(address, [value](T old) { return old < value ? value : old; });
}
template <simt::AtomicNumber T>
requires std::is_integral_v<T> T atomicMin(T* address, std::type_identity_t<T> value) {
  return simt::atomic_update(address, [value](T old) { return value < old ? value : old; });
}
template <simt::AtomicNumber T>
requires std::is_integral_v<T> T atomicAnd(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_and(value);
}
template <simt::AtomicNumber T>
requires std::is_integral_v<T> T atomicOr(T* address, std::type_identity_t<T> value) {
  return std::atomic_ref<T>(*address).fetch_or(value);
}
/// Stores `value` when *address equals `expected`; returns what was there.
template <simt::AtomicNumber T>
requires std::is_integral_v<T> T atomicCAS(T* address, std::type_identity_t<T> expected,
                                           std::type_identity_t<T> value) {
  std::atomic_ref<T>(*address).compare_exchange_strong(expected, value);
  return expected;
}

}  // namespace attn::on_simt

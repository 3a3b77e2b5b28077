#include "core/trace/tensor_case.h"

#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string_view>

#include "core/trace/input_check.h"

namespace attn::trace {
namespace {

using Ints = std::vector<std::int32_t>;

constexpr std::int64_t kMaxExtent = std::numeric_limits<std::int32_t>::max();

void check_shape(std::string_view name, const TensorView& raw, std::size_t rank, std::string_view layout) {
  ATTN_INPUT(raw.shape.size() == rank, "tensor '{}' has shape [{}]; it must be {}", name,
             fmt::join(raw.shape, ", "), layout);
  for (std::size_t i = 0; i < rank; ++i) {
    ATTN_INPUT(raw.shape[i] >= 1 && raw.shape[i] <= kMaxExtent,
               "tensor '{}' has extent {} in dimension {} of {}; use 1 or more", name, raw.shape[i], i,
               layout);
  }
}

/// The file's tensors with the checks that hold for all of them.
class CaseReader {
 public:
  CaseReader(std::string name, const TensorMap& tensors) : tensors_(tensors) { case_.name = std::move(name); }

  TensorCase read() {
    const auto q = floats("q", 3, "[Nq, H, D]");
    ATTN_INPUT(q.has_value(), "there is no tensor 'q'; give q [Nq, H, D] in F32, F16 or BF16");
    case_.q = *q;
    const std::int64_t head_dim = q->shape[2];
    ATTN_INPUT(head_dim % 8 == 0 && head_dim <= 256, "q has head_dim {}; use a multiple of 8 up to 256",
               head_dim);
    case_.k = keys("k", 3, "[Nk, Hkv, D]");
    case_.v = keys("v", 3, "[Nk, Hkv, D]");
    case_.k_cache = keys("k_cache", 4, "[num_blocks, block_size, Hkv, D]");
    case_.v_cache = keys("v_cache", 4, "[num_blocks, block_size, Hkv, D]");
    case_.k_new = keys("k_new", 3, "[M, Hkv, D]");
    case_.v_new = keys("v_new", 3, "[M, Hkv, D]");
    check_pair("k", case_.k, "v", case_.v);
    check_pair("k_cache", case_.k_cache, "v_cache", case_.v_cache);
    check_pair("k_new", case_.k_new, "v_new", case_.v_new);
    ATTN_INPUT(case_.k || case_.k_cache,
               "there are no keys; give k and v, or k_cache and v_cache with block_tables");
    check_kv_heads();
    case_.cu_seqlens_q = cu_seqlens("cu_seqlens_q");
    case_.cu_seqlens_k = cu_seqlens("cu_seqlens_k");
    read_context_lens();
    read_block_tables();
    read_slot_mapping();
    return std::move(case_);
  }

  void read_scale(const MetadataMap& metadata) {
    const auto found = metadata.find("scale");
    if (found == metadata.end()) return;
    const std::string& text = found->second;
    float value = 0.0F;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    ATTN_INPUT(error == std::errc() && end == text.data() + text.size() && std::isfinite(value),
               "metadata 'scale' is '{}'; give a number, or leave it out for 1/sqrt(head_dim)", text);
    case_.scale = value;
  }

 private:
  const TensorView* find(std::string_view name) const {
    const auto found = tensors_.find(name);
    return found == tensors_.end() ? nullptr : &found->second;
  }

  std::optional<TensorRecord> floats(std::string_view name, std::size_t rank, std::string_view layout) const {
    const TensorView* raw = find(name);
    if (!raw) return std::nullopt;
    ATTN_INPUT(is_float(raw->dtype), "tensor '{}' is {}; use F32, F16 or BF16", name,
               tensor_dtype_name(raw->dtype));
    check_shape(name, *raw, rank, layout);
    return TensorRecord{float_dtype(raw->dtype), raw->shape, {raw->data.begin(), raw->data.end()}};
  }

  /// K or V rows: same dtype and head_dim as q.
  std::optional<TensorRecord> keys(std::string_view name, std::size_t rank, std::string_view layout) const {
    auto tensor = floats(name, rank, layout);
    if (!tensor) return tensor;
    ATTN_INPUT(tensor->dtype == case_.q.dtype, "tensor '{}' is {} but q is {}; use one dtype for all", name,
               dtype_name(tensor->dtype), dtype_name(case_.q.dtype));
    ATTN_INPUT(tensor->shape.back() == case_.q.shape[2], "tensor '{}' has head_dim {} but q has {}", name,
               tensor->shape.back(), case_.q.shape[2]);
    const std::int64_t heads = case_.q.shape[1], kv_heads = tensor->shape[rank - 2];
    ATTN_INPUT(heads % kv_heads == 0, "tensor '{}' has {} KV heads, which do not divide the {} heads of q",
               name, kv_heads, heads);
    return tensor;
  }

  static void check_pair(std::string_view a_name, const std::optional<TensorRecord>& a,
                         std::string_view b_name, const std::optional<TensorRecord>& b) {
    ATTN_INPUT(a.has_value() == b.has_value(), "there is '{}' without '{}'; give both or neither",
               a ? a_name : b_name, a ? b_name : a_name);
    if (!a) return;
    ATTN_INPUT(a->shape == b->shape, "'{}' has shape [{}] but '{}' has [{}]", a_name,
               fmt::join(a->shape, ", "), b_name, fmt::join(b->shape, ", "));
  }

  void check_kv_heads() const {
    if (!case_.k_new) return;
    ATTN_INPUT(case_.k_cache.has_value(), "there is 'k_new' but no 'k_cache' to store it in");
    ATTN_INPUT(case_.k_new->shape[1] == case_.k_cache->shape[2],
               "'k_new' has {} KV heads but 'k_cache' has {}", case_.k_new->shape[1],
               case_.k_cache->shape[2]);
  }

  std::optional<Ints> ints(std::string_view name, std::size_t rank, std::string_view layout) const {
    const TensorView* raw = find(name);
    if (!raw) return std::nullopt;
    ATTN_INPUT(raw->dtype == TensorDType::i32, "tensor '{}' is {}; use I32 (torch.int32)", name,
               tensor_dtype_name(raw->dtype));
    check_shape(name, *raw, rank, layout);
    Ints values(raw->data.size() / sizeof(std::int32_t));
    std::memcpy(values.data(), raw->data.data(), values.size() * sizeof(std::int32_t));
    return values;
  }

  std::optional<Ints> cu_seqlens(std::string_view name) const {
    auto cu = ints(name, 1, "[B+1]");
    if (!cu) return cu;
    ATTN_INPUT(cu->size() >= 2, "'{}' has 1 entry; it needs one more than there are sequences", name);
    ATTN_INPUT(cu->front() == 0, "{}[0] is {}; it must begin with 0", name, cu->front());
    for (std::size_t i = 1; i < cu->size(); ++i) {
      ATTN_INPUT((*cu)[i] >= (*cu)[i - 1], "{}[{}] is {} after {}; it must not fall", name, i, (*cu)[i],
                 (*cu)[i - 1]);
    }
    return cu;
  }

  void read_context_lens() {
    case_.context_lens = ints("context_lens", 1, "[B]");
    if (!case_.context_lens) return;
    for (std::size_t b = 0; b < case_.context_lens->size(); ++b) {
      const std::int32_t length = (*case_.context_lens)[b];
      ATTN_INPUT(length >= 0, "context_lens[{}] is {}; use 0 or more", b, length);
    }
  }

  void read_block_tables() {
    const auto flat = ints("block_tables", 2, "[B, W]");
    if (!flat) return;
    ATTN_INPUT(case_.k_cache.has_value(), "there is 'block_tables' but no 'k_cache' for it to point into");
    const auto width = static_cast<std::size_t>(find("block_tables")->shape[1]);
    auto& tables = case_.block_tables.emplace();
    for (std::size_t i = 0; i < flat->size(); i += width) {
      tables.emplace_back(flat->begin() + static_cast<std::ptrdiff_t>(i),
                          flat->begin() + static_cast<std::ptrdiff_t>(i + width));
    }
  }

  void read_slot_mapping() {
    case_.slot_mapping = ints("slot_mapping", 1, "[M]");
    ATTN_INPUT(case_.slot_mapping.has_value() == case_.k_new.has_value(),
               "there is '{}' without '{}'; give both or neither", case_.k_new ? "k_new" : "slot_mapping",
               case_.k_new ? "slot_mapping" : "k_new");
    if (!case_.slot_mapping) return;
    const Ints& slots = *case_.slot_mapping;
    ATTN_INPUT(static_cast<std::int64_t>(slots.size()) == case_.k_new->shape[0],
               "slot_mapping has {} entries but k_new has {} rows", slots.size(), case_.k_new->shape[0]);
    const std::int64_t num_slots = case_.k_cache->shape[0] * case_.k_cache->shape[1];
    std::map<std::int32_t, std::size_t> writer;
    for (std::size_t i = 0; i < slots.size(); ++i) {
      ATTN_INPUT(slots[i] >= -1 && slots[i] < num_slots,
                 "slot_mapping[{}] is {}; the cache has slots 0 to {}, -1 skips the row", i, slots[i],
                 num_slots - 1);
      if (slots[i] == -1) continue;
      const auto [known, is_new] = writer.emplace(slots[i], i);
      ATTN_INPUT(is_new, "slot_mapping[{}] and slot_mapping[{}] are both {}; each slot can be written once",
                 known->second, i, slots[i]);
    }
  }

  const TensorMap& tensors_;
  TensorCase case_;
};

}  // namespace

TensorCase make_tensor_case(const std::string& name, const TensorMap& tensors, const MetadataMap& metadata) {
  try {
    CaseReader reader(name, tensors);
    reader.read_scale(metadata);
    return reader.read();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{} (tensor case '{}')", error.what(), name));
  }
}

TensorCase load_tensor_case(const std::filesystem::path& path) {
  const SafetensorsFile file(path);
  return make_tensor_case(path.filename().string(), file.tensors(), file.metadata());
}

AttendOptions default_options(const TensorCase& tensors) {
  return {.op = tensors.context_lens ? AttendOp::decode : AttendOp::prefill};
}

}  // namespace attn::trace

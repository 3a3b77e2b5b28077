#include "core/model/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "core/model/json_fields.h"
#include "kernels/common/check.h"

namespace attn {

static_assert(std::endian::native == std::endian::little, "tensors are used as they lie in the file");

namespace {

using nlohmann::json;

constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the limit of the Python library

struct DTypeName {
  TensorDType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr DTypeName kDTypes[] = {{TensorDType::f32, "F32", 4},
                                 {TensorDType::f16, "F16", 2},
                                 {TensorDType::bf16, "BF16", 2},
                                 {TensorDType::i32, "I32", 4},
                                 {TensorDType::i64, "I64", 8}};

const DTypeName& entry(TensorDType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }

TensorDType read_tensor_dtype(const JsonFields& tensor) {
  const std::string name = tensor.text("dtype");
  for (const DTypeName& known : kDTypes) {
    if (known.name == name) return known.dtype;
  }
  tensor.fail(fmt::format("dtype '{}' is not supported; use F32, F16, BF16, I32 or I64", name));
}

/// A list of non-negative whole numbers.
std::vector<std::int64_t> read_sizes(const JsonFields& tensor, const char* key) {
  std::vector<std::int64_t> sizes;
  const json& list = tensor.at(key);
  if (!list.is_array()) tensor.fail(fmt::format("'{}' is no list", key));
  for (const json& value : list) {
    if (!value.is_number_unsigned() ||
        value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
      tensor.fail(fmt::format("'{}' must hold whole numbers from 0 up", key));
    }
    sizes.push_back(value.get<std::int64_t>());
  }
  return sizes;
}

/// prod(shape) * itemsize, or nothing when that does not fit 63 bits.
std::optional<std::int64_t> byte_size(const std::vector<std::int64_t>& shape, std::size_t itemsize) {
  auto bytes = static_cast<std::int64_t>(itemsize);
  // A zero anywhere makes the product zero, whatever the other factors.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  for (const std::int64_t size : shape) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) return std::nullopt;
  }
  return bytes;
}

struct Range {
  std::int64_t begin;
  std::int64_t end;
  const std::string* name;
};

/// One header entry against the data that follow the header.
Range read_tensor(const JsonFields& fields, std::span<const std::byte> data, TensorView& view) {
  view.dtype = read_tensor_dtype(fields);
  view.shape = read_sizes(fields, "shape");
  const std::vector<std::int64_t> offsets = read_sizes(fields, "data_offsets");
  if (offsets.size() != 2 || offsets[0] > offsets[1]) {
    fields.fail("data_offsets must be [begin, end] with begin <= end");
  }
  if (offsets[1] > static_cast<std::int64_t>(data.size())) {
    fields.fail(fmt::format(
        "its data end at byte {} but the file has only {}; the file is cut short or its header lies",
        offsets[1], data.size()));
  }
  const std::optional<std::int64_t> expected = byte_size(view.shape, tensor_dtype_size(view.dtype));
  const std::int64_t bytes = offsets[1] - offsets[0];
  if (!expected || *expected != bytes) {
    fields.fail(fmt::format("{} {} needs {} bytes but data_offsets span {}; the header lies",
                            tensor_dtype_name(view.dtype), shape_text(view.shape),
                            expected ? std::to_string(*expected) : "more than 2^63", bytes));
  }
  view.data = data.subspan(static_cast<std::size_t>(offsets[0]), static_cast<std::size_t>(bytes));
  return {offsets[0], offsets[1], nullptr};
}

/// Tensors must lie back to back: a gap can hide data, an overlap lets one tensor be read as another.
void check_layout(std::vector<Range> ranges, std::size_t data_bytes, const std::string& file) {
  std::sort(ranges.begin(), ranges.end(), [](const Range& a, const Range& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  std::int64_t end = 0;
  for (const Range& range : ranges) {
    if (range.begin != end) {
      throw InputError(
          fmt::format("{} (tensor {}): data begin at byte {} where {} was expected; tensors must neither "
                      "overlap nor leave gaps",
                      file, *range.name, range.begin, end));
    }
    end = range.end;
  }
  if (end != static_cast<std::int64_t>(data_bytes)) {
    throw InputError(fmt::format("{}: {} bytes follow the last tensor; the file is damaged", file,
                                 static_cast<std::int64_t>(data_bytes) - end));
  }
}

/// The header text, after checking its length against the file.
std::string_view header_of(std::span<const std::byte> bytes, const std::string& file) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length) {
    throw InputError(fmt::format("{} has {} bytes; a safetensors file has at least 8", file, bytes.size()));
  }
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMaxHeaderBytes) {
    throw InputError(
        fmt::format("{}: a header of {} bytes is more than the {} allowed; this is no safetensors file", file,
                    length, kMaxHeaderBytes));
  }
  if (length > bytes.size() - sizeof length) {
    throw InputError(fmt::format("{}: the header needs {} bytes but only {} follow; the file is cut short",
                                 file, length, bytes.size() - sizeof length));
  }
  return {reinterpret_cast<const char*>(bytes.data()) + sizeof length, static_cast<std::size_t>(length)};
}

MetadataMap read_metadata(const JsonFields& fields) {
  const json& object = fields.at("__metadata__");
  if (!object.is_object()) fields.fail("__metadata__ is no object");
  MetadataMap metadata;
  for (const auto& [key, value] : object.items()) {
    if (!value.is_string()) fields.fail(fmt::format("__metadata__ '{}' is no string", key));
    metadata.emplace(key, value.get<std::string>());
  }
  return metadata;
}

}  // namespace

std::size_t tensor_dtype_size(TensorDType dtype) { return entry(dtype).size; }
std::string_view tensor_dtype_name(TensorDType dtype) { return entry(dtype).name; }
bool is_float(TensorDType dtype) { return dtype <= TensorDType::bf16; }

// DType and the first three of TensorDType have the same order.
TensorDType tensor_dtype(DType dtype) { return static_cast<TensorDType>(dtype); }
DType float_dtype(TensorDType dtype) {
  ATTN_CHECK(is_float(dtype), "{} is no float type", tensor_dtype_name(dtype));
  return static_cast<DType>(dtype);
}

std::int64_t TensorView::count() const {
  return static_cast<std::int64_t>(data.size() / tensor_dtype_size(dtype));
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

SafetensorsFile::SafetensorsFile(const std::filesystem::path& path) : path_(path), file_(path) {
  const std::string file = path.string();
  const std::string_view header = header_of(file_.bytes(), file);
  const std::span<const std::byte> data = file_.bytes().subspan(sizeof(std::uint64_t) + header.size());
  const json document = parse_json_object(header, file + " (header)");

  std::vector<Range> ranges;
  for (const auto& [name, value] : document.items()) {
    if (name == "__metadata__") {
      metadata_ = read_metadata({document, file});
      continue;
    }
    const auto it = tensors_.emplace(name, TensorView{}).first;
    Range range = read_tensor({value, fmt::format("{} (tensor {})", file, name)}, data, it->second);
    range.name = &it->first;
    ranges.push_back(range);
  }
  check_layout(std::move(ranges), data.size(), file);
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto it = tensors_.find(name);
  return it == tensors_.end() ? nullptr : &it->second;
}

const TensorView& SafetensorsFile::at(std::string_view name) const {
  const TensorView* view = find(name);
  if (!view) throw InputError(fmt::format("{} has no tensor '{}'; add it", path_.string(), name));
  return *view;
}

}  // namespace attn

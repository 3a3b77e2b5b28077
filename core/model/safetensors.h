// The safetensors file format: 8 bytes header length (little-endian), a JSON header, then the tensors' bytes.
//   {"__metadata__": {"k": "v"}, "name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
// Offsets count from the end of the header. A file is only accepted whole: lengths within the file and below
// 100 MB for the header, every tensor as long as its shape says, tensors back to back without gap or overlap.
// Source: https://github.com/huggingface/safetensors#format
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/mapped_file.h"
#include "kernels/common/dtype.h"

namespace attn {

/// What a file may hold: the float types of kernels and the index types of tensor cases.
enum class TensorDType : std::uint8_t { f32, f16, bf16, i32, i64 };

std::size_t tensor_dtype_size(TensorDType dtype);
std::string_view tensor_dtype_name(TensorDType dtype);  // as in the file: "F32", ..., "I64"
TensorDType tensor_dtype(DType dtype);
bool is_float(TensorDType dtype);
/// PRECOND: is_float(dtype).
DType float_dtype(TensorDType dtype);

/// A tensor in memory it does not own. `data` may be unaligned: files do not promise alignment, so copy
/// with memcpy instead of reading through a typed pointer.
struct TensorView {
  TensorDType dtype = TensorDType::f32;
  std::vector<std::int64_t> shape;  // row-major; empty = scalar
  std::span<const std::byte> data;

  std::int64_t count() const;  // product of shape
};

/// "[2, 3]" for messages.
std::string shape_text(const std::vector<std::int64_t>& shape);

using TensorMap = std::map<std::string, TensorView, std::less<>>;
using MetadataMap = std::map<std::string, std::string, std::less<>>;

/// One file, mapped. Views are valid as long as the object lives, and survive its moves.
class SafetensorsFile {
 public:
  /// Throws InputError (file, tensor, what is wrong).
  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return path_; }
  const TensorMap& tensors() const { return tensors_; }
  const MetadataMap& metadata() const { return metadata_; }
  /// Null when there is none of that name.
  const TensorView* find(std::string_view name) const;
  /// Throws InputError when there is none of that name.
  const TensorView& at(std::string_view name) const;

 private:
  std::filesystem::path path_;
  MappedFile file_;
  TensorMap tensors_;
  MetadataMap metadata_;
};

/// All weights of a model directory: the files of model.safetensors.index.json where there is one, else
/// every *.safetensors. A name in two files is an error.
class ModelTensors {
 public:
  explicit ModelTensors(const std::filesystem::path& model_dir);

  const TensorMap& tensors() const { return tensors_; }
  /// The file a tensor comes from, for messages.
  std::string file_of(std::string_view name) const;

 private:
  void add_file(const std::filesystem::path& path);
  void check_index(const std::map<std::string, std::string, std::less<>>& weight_map,
                   const std::filesystem::path& index) const;

  std::vector<SafetensorsFile> files_;
  TensorMap tensors_;
  std::map<std::string, std::string, std::less<>> file_of_;
};

/// Writes a file that SafetensorsFile (and the Python library) reads: header padded so that data start at a
/// multiple of 8, tensors in name order. Goes to a temporary file beside `path` first and is renamed when
/// whole, so `path` never holds half a file. Throws InputError when it cannot be written.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const MetadataMap& metadata = {});

}  // namespace attn

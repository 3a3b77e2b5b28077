// write_safetensors.
#include <nlohmann/json.hpp>

#include "core/model/replace_file.h"
#include "core/model/safetensors.h"
#include "kernels/common/check.h"

namespace attn {

namespace {

/// Header text padded with spaces so that the data start at a multiple of 8.
std::string make_header(const TensorMap& tensors, const MetadataMap& metadata) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::size_t offset = 0;
  for (const auto& [name, view] : tensors) {
    ATTN_CHECK(name != "__metadata__", "a tensor cannot have this name");
    std::int64_t count = 1;
    for (const std::int64_t size : view.shape) count *= size;
    ATTN_CHECK(view.data.size() == static_cast<std::size_t>(count) * tensor_dtype_size(view.dtype),
               "tensor {}: {} bytes for shape {}", name, view.data.size(), shape_text(view.shape));
    header[name] = {{"dtype", tensor_dtype_name(view.dtype)},
                    {"shape", view.shape},
                    {"data_offsets", {offset, offset + view.data.size()}}};
    offset += view.data.size();
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  return text;
}

}  // namespace

void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors,
                       const MetadataMap& metadata) {
  const std::string header = make_header(tensors, metadata);
  const std::uint64_t length = header.size();
  replace_file(path, [&](std::ostream& file) {
    file.write(reinterpret_cast<const char*>(&length), sizeof length);
    file.write(header.data(), static_cast<std::streamsize>(header.size()));
    for (const auto& [name, view] : tensors) {
      file.write(reinterpret_cast<const char*>(view.data.data()),
                 static_cast<std::streamsize>(view.data.size()));
    }
  });
}

}  // namespace attn

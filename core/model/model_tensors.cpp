// ModelTensors: which files make up a model.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/model/json_fields.h"
#include "core/model/safetensors.h"
#include "kernels/common/check.h"

namespace attn {

namespace fs = std::filesystem;

namespace {

using WeightMap = std::map<std::string, std::string, std::less<>>;  // tensor -> file name

WeightMap read_index(const fs::path& path) {
  const nlohmann::json document = parse_json_object(read_text_file(path, 100'000'000), path.string());
  const JsonFields fields(document, path.string());
  const nlohmann::json& map = fields.at("weight_map");
  if (!map.is_object() || map.empty()) fields.fail("weight_map must name a file for every tensor");
  WeightMap weight_map;
  for (const auto& [tensor, file] : map.items()) {
    // A plain name only: an index must not reach outside its own directory.
    if (!file.is_string() || fs::path(file.get<std::string>()).filename() != file.get<std::string>() ||
        !file.get<std::string>().ends_with(".safetensors")) {
      fields.fail(
          fmt::format("the file of tensor {} is no name of a .safetensors file in this directory", tensor));
    }
    weight_map.emplace(tensor, file.get<std::string>());
  }
  return weight_map;
}

std::vector<fs::path> safetensors_in(const fs::path& dir) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (const fs::directory_entry& item : fs::directory_iterator(dir, error)) {
    if (item.path().extension() == ".safetensors") paths.push_back(item.path());
  }
  if (error)
    throw InputError(
        fmt::format("cannot read {} ({}); give a model directory", dir.string(), error.message()));
  if (paths.empty())
    throw InputError(fmt::format("{} holds no *.safetensors file; give a model directory", dir.string()));
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

ModelTensors::ModelTensors(const fs::path& model_dir) {
  const fs::path index = model_dir / "model.safetensors.index.json";
  std::error_code error;
  if (!fs::exists(index, error)) {
    for (const fs::path& path : safetensors_in(model_dir)) add_file(path);
    return;
  }
  const WeightMap weight_map = read_index(index);
  std::set<std::string> names;
  for (const auto& [tensor, file] : weight_map) names.insert(file);
  for (const std::string& name : names) add_file(model_dir / name);
  check_index(weight_map, index);
}

void ModelTensors::add_file(const fs::path& path) {
  const SafetensorsFile& file = files_.emplace_back(path);
  for (const auto& [name, view] : file.tensors()) {
    if (!tensors_.emplace(name, view).second) {
      throw InputError(
          fmt::format("tensor {} is in {} and in {}; keep one of them", name, file_of(name), path.string()));
    }
    file_of_.emplace(name, path.string());
  }
}

void ModelTensors::check_index(const WeightMap& weight_map, const fs::path& index) const {
  for (const auto& [tensor, file] : weight_map) {
    const auto it = file_of_.find(tensor);
    if (it == file_of_.end() || fs::path(it->second).filename() != file) {
      throw InputError(fmt::format("{}: tensor {} is not in {} as the index says; download the model again",
                                   index.string(), tensor, file));
    }
  }
}

std::string ModelTensors::file_of(std::string_view name) const {
  const auto it = file_of_.find(name);
  return it == file_of_.end() ? std::string() : it->second;
}

}  // namespace attn

#include "app/opening.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <fstream>
#include <sstream>

#include "core/trace/tensor_case.h"
#include "core/trace/trace_file.h"
#include "kernels/common/check.h"

namespace attn::app {
namespace fs = std::filesystem;

Link parse_link(const std::string& text) {
  Link link;
  const std::size_t hash = text.find('#');
  link.path = text.substr(0, hash);
  if (hash == std::string::npos) return link;
  std::stringstream parts(text.substr(hash + 1));
  for (std::string part; std::getline(parts, part, '&');) {
    const std::size_t equals = part.find('=');
    const std::string key = part.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
    int number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    if (error != std::errc() || end != value.data() + value.size() || number < 0) {
      throw InputError(
          fmt::format("'{}' is not key=number ({}); write FILE#step=12&layer=0&head=2", part, text));
    }
    if (key == "step") {
      link.step = number;
    } else if (key == "layer") {
      link.layer = number;
    } else if (key == "head") {
      link.head = number;
    } else if (key == "seq") {
      link.seq = number;
    } else {
      throw InputError(
          fmt::format("unknown part '{}' after # ({}); known: step, layer, head, seq", key, text));
    }
  }
  return link;
}

FileKind kind_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (fs::exists(path / "config.json")) return FileKind::model;
    throw InputError(fmt::format(
        "the folder has no config.json ({}); give a model directory, a scenario or a trace", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("cannot read the file ({}); check the path", path.string()));
  std::array<char, 64> start{};
  file.read(start.data(), start.size());
  const std::string_view head(start.data(), static_cast<std::size_t>(file.gcount()));
  if (path.extension() == ".attn" || head.starts_with("\x8a"
                                                      "attn"))
    return FileKind::trace;
  if (path.extension() == ".safetensors") return FileKind::tensor_case;
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (path.extension() == ".json" || (first != std::string_view::npos && head[first] == '{'))
    return FileKind::scenario;
  throw InputError(fmt::format("not a scenario (.json), a trace (.attn) or a tensor case (.safetensors) ({})",
                               path.string()));
}

std::shared_ptr<const trace::Store> open_store(const fs::path& path, DeviceChoice choice) {
  if (kind_of(path) == FileKind::trace) return trace::open_trace(path);
  const trace::TensorCase tensors = trace::load_tensor_case(path);
  const DevicePick pick = make_device(choice);
  return trace::attend(*pick.device, tensors, trace::default_options(tensors)).store;
}

viz::Selection selection_of(const Link& link, const trace::Store& store) {
  viz::Selection selection;
  const int steps = store.num_steps();
  if (steps == 0) return selection;
  if (link.step) {
    const int first = store.step(0)->step;
    selection.step = *link.step - first;
    if (selection.step < 0 || selection.step >= steps) {
      throw InputError(fmt::format("there is no step {} ({}); it has steps {} to {}", *link.step,
                                   link.path.string(), first, first + steps - 1));
    }
  }
  const auto pick = [&](const std::optional<int>& wanted, int count, const char* what) {
    if (wanted && *wanted >= count) {
      throw InputError(fmt::format("there is no {} {} ({}); it has {} 0 to {}", what, *wanted,
                                   link.path.string(), what, count - 1));
    }
    return wanted.value_or(0);
  };
  selection.layer = pick(link.layer, store.manifest().model.num_layers, "layer");
  selection.head = pick(link.head, store.manifest().model.num_heads, "head");
  if (link.seq) selection.seq = *link.seq;
  return selection;
}

}  // namespace attn::app

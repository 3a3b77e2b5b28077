// A model directory with random weights, small enough that the emulator runs it in milliseconds.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "core/engine/attention_paths.h"
#include "core/model/transformer.h"

namespace attn::test {

struct TinyShape {
  int hidden = 32;
  int layers = 2;
  int heads = 4;
  int kv_heads = 2;
  int head_dim = 8;
  int vocab = 61;
  int max_positions = 96;
  std::string dtype = "float32";
  std::uint64_t seed = 1;
};

/// Writes the directory and removes it when it goes out of scope.
class TinyModel {
 public:
  explicit TinyModel(const TinyShape& shape = {});
  ~TinyModel();
  TinyModel(const TinyModel&) = delete;
  TinyModel& operator=(const TinyModel&) = delete;
  const std::filesystem::path& dir() const { return dir_; }
  /// As a trace of it says.
  trace::ModelShape model_shape() const { return shape_of(load_model_config(dir_)); }

 private:
  std::filesystem::path dir_;
};

}  // namespace attn::test

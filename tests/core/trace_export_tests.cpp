// Exported tensors: read back they are the recorded bytes, a table has every number at its place, and a file
// is there whole or not at all.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "core/model/safetensors.h"
#include "core/trace/export.h"
#include "core/trace/inspector.h"
#include "core/trace/launch_shape.h"
#include "core/trace/tensor_values.h"
#include "kernels/common/check.h"
#include "tests/core/trace_random.h"
#include "tests/core/trace_runs.h"

namespace attn::trace::test {
namespace {

struct RunSeen {
  std::unique_ptr<Device> device = make_simt_device();
  std::shared_ptr<Recording> recording = tight_run(*device, tight_config());
  std::shared_ptr<const AttentionView> view = Inspector(*device, recording).inspect(1, 1);
};

const RunSeen& run_seen() {
  static const RunSeen run;
  return run;
}

std::vector<std::vector<std::string>> read_csv(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    lines.emplace_back();
    std::stringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');) lines.back().push_back(cell);
  }
  return lines;
}

std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder), {}));
}

TEST(TraceExport, SafetensorsHoldTheRecordedBytes) {
  TemporaryFolder folder;
  const RunSeen& run = run_seen();
  const LayerRecord& layer = run.recording->step(1)->layers[1];
  for (const auto& [name, tensor] :
       {std::pair{"q", &layer.q}, {"k", &layer.k}, {"v", &layer.v}, {"o", &layer.o}, {"lse", &layer.lse}}) {
    const auto path = folder / (std::string(name) + ".safetensors");
    export_tensor(path, *run.recording, 1, 1, name, nullptr);
    const SafetensorsFile file(path);
    const TensorView& read = file.at(name);
    EXPECT_EQ(read.shape, tensor->shape);
    EXPECT_TRUE(std::equal(read.data.begin(), read.data.end(), tensor->data.begin(), tensor->data.end()));
    EXPECT_EQ(file.metadata().at("step"), "2");
    EXPECT_EQ(file.metadata().at("layer"), "1");
    EXPECT_NE(file.metadata().at("kernel").find("prefill"), std::string::npos);
  }
  export_tensor(folder / "w.safetensors", *run.recording, 1, 1, "weights", run.view.get());
  const SafetensorsFile file(folder / "w.safetensors");
  EXPECT_EQ(file.at("weights").shape, (std::vector<std::int64_t>{4, run.view->num_q, run.view->max_k}));
  EXPECT_EQ(file.metadata().at("kernel"), run.view->kernel);
  EXPECT_EQ(file.metadata().at("first_row"), "0");
  EXPECT_EQ(files_in(folder / ""), 6U);
}

TEST(TraceExport, TablesHaveEveryNumberAtItsPlace) {
  TemporaryFolder folder;
  const RunSeen& run = run_seen();
  const auto step = run.recording->step(1);
  export_tensor(folder / "o.csv", *run.recording, 1, 1, "o", nullptr);
  const auto o = read_csv(folder / "o.csv");
  ASSERT_EQ(o.size(), 1 + step->input_ids.size() * 4);
  EXPECT_EQ(o[0].size(), 4U + 8);
  EXPECT_EQ(o[0][4], "d0");
  const auto values = to_floats(step->layers[1].o);
  for (std::size_t i = 1; i < o.size(); ++i) {
    const auto row = std::stoul(o[i][0]), head = std::stoul(o[i][3]);
    EXPECT_EQ(std::stoi(o[i][2]), step->positions[row]);
    for (std::size_t d = 0; d < 8; ++d) EXPECT_EQ(std::stof(o[i][4 + d]), values[(row * 4 + head) * 8 + d]);
  }
  export_tensor(folder / "w.csv", *run.recording, 1, 1, "weights", run.view.get());
  const auto weights = read_csv(folder / "w.csv");
  EXPECT_EQ(weights[0], (std::vector<std::string>{"row", "seq", "position", "head", "key", "weight"}));
  EXPECT_EQ(weights.size() - 1, 4U * static_cast<std::size_t>(visible_pairs(*step)));
  for (std::size_t i = 1; i < weights.size(); ++i) {
    const auto& w = weights[i];
    EXPECT_EQ(std::stof(w[5]), run.view->weight(std::stoi(w[3]), std::stoi(w[0]), std::stoi(w[4])));
  }
  export_tensor(folder / "lse.csv", *run.recording, 1, 1, "lse", nullptr);
  EXPECT_EQ(read_csv(folder / "lse.csv").size(), 1 + step->input_ids.size() * 4);
}

TEST(TraceExport, ATableCanBeStoppedAndThenNothingIsThere) {
  TemporaryFolder folder;
  const RunSeen& run = run_seen();
  for (const char* tensor : {"o", "weights"}) {
    int asked = 0;
    const auto stop_at = [&](int last) {
      asked = 0;
      return [&asked, last](int done, int total) {
        EXPECT_EQ(done, asked++);
        EXPECT_GT(total, done);
        return done < last;
      };
    };
    EXPECT_FALSE(export_tensor(folder / "t.csv", *run.recording, 1, 1, tensor, run.view.get(), stop_at(2)));
    EXPECT_EQ(asked, 3);
    EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "not even a part of it";
    EXPECT_TRUE(
        export_tensor(folder / "t.csv", *run.recording, 1, 1, tensor, run.view.get(), stop_at(1 << 20)));
    EXPECT_EQ(asked, static_cast<int>(run.recording->step(1)->input_ids.size()));
    std::filesystem::remove(folder / "t.csv");
  }
}

TEST(TraceExport, RefusalsAreOneSentenceAndLeaveNothing) {
  TemporaryFolder folder;
  const RunSeen& run = run_seen();
  const auto refusal = [&](const std::filesystem::path& path, int layer, std::string_view tensor,
                           const AttentionView* view) {
    try {
      export_tensor(path, *run.recording, 1, layer, tensor, view);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(refusal(folder / "a.txt", 1, "q", nullptr).find("neither .safetensors nor .csv"),
            std::string::npos);
  EXPECT_NE(refusal(folder / "a.csv", 1, "w", nullptr).find("no tensor 'w'"), std::string::npos);
  EXPECT_NE(refusal(folder / "a.csv", 7, "q", nullptr).find("layer 7"), std::string::npos);
  EXPECT_NE(refusal(folder / "a.csv", 1, "weights", nullptr).find("not there yet"), std::string::npos);
  EXPECT_NE(refusal(folder / "a.csv", 0, "weights", run.view.get()).find("not there yet"), std::string::npos);
  EXPECT_NE(refusal(folder / "no/a.csv", 1, "q", nullptr).find("cannot write"), std::string::npos);
  EXPECT_NE(refusal(folder / "no/a.safetensors", 1, "q", nullptr).find("cannot write"), std::string::npos);
  std::filesystem::create_directory(folder / "taken.csv");
  EXPECT_NE(refusal(folder / "taken.csv", 1, "q", nullptr).find("cannot write"), std::string::npos);
  EXPECT_EQ(files_in(folder / ""), 1U) << "the folder taken.csv alone";
}

}  // namespace
}  // namespace attn::trace::test

// Random keys, clicks, drags, wheels, sizes and bad files: nothing of it may end the program or stop it from
// drawing. ATTN_MASH_SECONDS sets how long, ATTN_MASH_SEED which.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/engine/switches.h"
#include "tests/app/in_folder.h"
#include "tests/app/program.h"
#include "tests/app/user.h"
#include "viz/keys.h"

namespace attn::app {
namespace {

namespace fs = std::filesystem;
using Kind = viz::Command::Kind;
using testing::InFolder;
using testing::User;

double number_from(const char* variable, double otherwise) {
  const char* text = std::getenv(variable);
  return text != nullptr ? std::atof(text) : otherwise;
}

class Masher {
 public:
  Masher(User& user, std::vector<std::string> files, unsigned seed)
      : user_(user), files_(std::move(files)), random_(seed) {}

  void once() {
    switch (below(12)) {
      case 0:
      case 1:
      case 2:
        return key();
      case 3:
      case 4:
      case 5:
        return click();
      case 6:
        return drag();
      case 7:
        ImGui::GetIO().MouseWheel = static_cast<float>(below(5)) - 2.0F;
        return user_.draw();
      case 8:
        return type();
      case 9:
        if (below(4) == 0)
          user_.resize(320.0F + static_cast<float>(below(2600)), 240.0F + static_cast<float>(below(1600)));
        return user_.draw();
      default:
        return command();
    }
  }

 private:
  int below(int end) { return static_cast<int>(random_() % static_cast<unsigned>(end)); }
  template <class T>
  const T& pick(const std::vector<T>& all) {
    return all[static_cast<std::size_t>(below(static_cast<int>(all.size())))];
  }

  void modifiers() {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyShift = below(4) == 0;
    io.KeyCtrl = below(4) == 0;
    io.KeyAlt = below(8) == 0;
  }
  void key() {
    const auto table = viz::key_table();
    const viz::KeyBinding& binding = table[static_cast<std::size_t>(below(static_cast<int>(table.size())))];
    if (binding.chord.key > 0) return user_.press(binding.chord);
    modifiers();
    if (!binding.typed.empty()) {
      user_.type(binding.typed[static_cast<std::size_t>(below(static_cast<int>(binding.typed.size())))]);
    }
  }
  void type() {
    for (int i = below(6); i >= 0; --i) user_.type(static_cast<char>(32 + below(95)));
    if (below(2) == 0) user_.press({.key = below(2) == 0 ? viz::keys::kEnter : viz::keys::kEscape});
  }
  void point() {
    ImGuiIO& io = ImGui::GetIO();
    const auto& marks = user_.marks().all();
    if (!marks.empty() && below(4) != 0) {
      const viz::Rect& rect = marks[static_cast<std::size_t>(below(static_cast<int>(marks.size())))].rect;
      io.MousePos = {rect.x + rect.w * 0.5F, rect.y + rect.h * 0.5F};
    } else {
      io.MousePos = {static_cast<float>(below(static_cast<int>(io.DisplaySize.x) + 20)) - 10.0F,
                     static_cast<float>(below(static_cast<int>(io.DisplaySize.y) + 20)) - 10.0F};
    }
  }
  void click() {
    modifiers();
    point();
    user_.draw();
    const int button = below(5) == 0 ? 1 : 0;
    for (int times = 1 + below(2); times > 0; --times) {
      ImGui::GetIO().MouseDown[button] = true;
      user_.draw();
      ImGui::GetIO().MouseDown[button] = false;
      user_.draw();
    }
  }
  void drag() {
    point();
    user_.draw();
    ImGui::GetIO().MouseDown[0] = true;
    for (int i = 0; i < 4; ++i) {
      user_.draw();
      point();
    }
    ImGui::GetIO().MouseDown[0] = false;
    user_.draw();
  }
  /// What menus, dialogs and dropped files ask for.
  void command() {
    viz::Command command;
    command.kind = static_cast<Kind>(below(static_cast<int>(Kind::quit)));
    command.a = below(41) - 20;
    command.x = static_cast<float>(below(20)) * 0.1F;
    command.grain = static_cast<trace::Grain>(below(5));
    command.condition = {.kind = static_cast<trace::ConditionKind>(below(11)), .a = below(50) - 1, .x = 0.1};
    command.selection = user_.session().selection();
    command.selection.step = below(60) - 5;
    command.selection.seq = below(8) - 1;
    command.selection.q_row = below(60) - 1;
    command.selection.k_col = below(90) - 1;
    command.selection.block = below(60) - 1;
    command.selection.tile = below(9) - 1;
    command.selection.head = below(12) - 2;
    command.selection.layer = below(8) - 2;
    if (command.kind == Kind::add_prompt) {
      command.text = below(5) == 0 ? "" : std::string(static_cast<std::size_t>(below(40)), 'e');
    } else if (command.kind == Kind::set_switch) {
      const EngineSwitch& one = pick(engine_switches());
      command.text = one.name;
      command.value = below(9) == 0 ? "sideways" : pick(one.values);
    } else if (command.kind == Kind::open_file) {
      if (below(6) != 0) return user_.draw();
      command.text = pick(files_);
    } else if (command.kind == Kind::export_tensor) {
      command.value = pick(std::vector<std::string>{"q", "k", "v", "o", "lse", "weights", "scores", "x"});
    } else if (command.kind == Kind::save_trace || command.kind == Kind::list_folder) {
      command.text = below(2) == 0 ? "" : "some";
    }
    user_.session().apply(viz::Commands{command}, user_.view);
    user_.draw();
  }

  User& user_;
  std::vector<std::string> files_;
  std::mt19937 random_;
};

std::vector<std::string> good_and_bad_files(const testing::TemporaryFolder& folder) {
  testing::write_file(folder.file("half.json"), "{\"model\": ");
  testing::write_file(folder.file("noise.attn"), std::string(3000, '\xEE'));
  testing::write_file(folder.file("empty.safetensors"), "");
  testing::write_file(folder.file("mapless.safetensors"), std::string(8, '\xFF') + "{}");
  testing::write_file(folder.file("letter.txt"), "Dear reader");
  const std::string good = testing::default_scenario().string();
  return {good,
          good + "#step=7&layer=2&head=3&row=2&tile=1",
          good + "#step=900",
          good + "#step=x",
          folder.file("half.json"),
          folder.file("noise.attn"),
          folder.file("empty.safetensors"),
          folder.file("mapless.safetensors"),
          folder.file("letter.txt"),
          folder.file("missing.attn"),
          folder.path().string(),
          ""};
}

TEST(Mash, NothingThatIsPressedOrDroppedEndsTheProgram) {
  const testing::TemporaryFolder folder;
  const InFolder inside(folder.path());
  const double seconds = number_from("ATTN_MASH_SECONDS", 10.0);
  const auto seed = static_cast<unsigned>(number_from("ATTN_MASH_SEED", 1.0));
  User user(testing::scenario_subject());
  user.settle();
  Masher masher(user, good_and_bad_files(folder), seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  int presses = 0;
  for (; std::chrono::steady_clock::now() < end; ++presses) masher.once();
  user.view.playing = false;
  user.send(Kind::cancel);
  ASSERT_NE(user.frame().step, nullptr);
  EXPECT_FALSE(user.marks().all().empty()) << "it still draws";
  EXPECT_GT(presses, 20);
  RecordProperty("presses", presses);
}

}  // namespace
}  // namespace attn::app

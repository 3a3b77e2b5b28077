// Films as a user makes them: small and short ones, through the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "app/child_process.h"
#include "tests/app/program.h"

namespace attn::app::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

bool ffmpeg_here() { return find_program("ffmpeg").has_value(); }

/// Three stops of half a second each, one of them a walk.
std::string small_script(const TemporaryFolder& folder) {
  const auto stop = [](const char* name, int step) {
    return json{
        {"stop", name}, {"caption", std::string(name) + " it is"}, {"goto", {{"step", step}}}, {"hold", 0.5}};
  };
  json walk = stop("walk", 2);
  walk["step_to"] = {{"step", 4}, {"pace", 0.4}};
  const json scenario = {{"version", 1},
                         {"name", "Small"},
                         {"model", model_dir().string()},
                         {"engine", {{"block_size", 4}, {"num_blocks", 16}}},
                         {"requests", {{{"id", "A"}, {"token_ids", {5, 6, 7}}, {"max_tokens", 5}}}},
                         {"size", {320, 180}},
                         {"fps", 10},
                         {"film", {stop("first", 1), walk, stop("last", 3)}}};
  const std::string path = folder.file("small.json");
  write_file(path, scenario.dump());
  return path;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::stringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

constexpr int kFrames = 15 + 13 + 15;  // at 10 a second: 1.5 s, 0.4 + 0.4 + 0.5 s, 1.5 s

TEST(Film, IsTheSameEveryTime) {
  if (!ffmpeg_here()) GTEST_SKIP() << "ffmpeg is not installed";
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  std::vector<std::string> hashes;
  for (const char* name : {"a.mp4", "b.mp4"}) {
    const std::string list = folder.file(std::string(name) + ".sha256");
    const auto result = run_program({"film", script, "-o", folder.file(name), "--hashes", list, "--srt",
                                     "--vtt", "--sections", "--device", "simt"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_FALSE(fs::exists(folder.file(std::string(name) + ".parts"))) << "nothing is left over";
    hashes.push_back(read_file(list));
  }
  EXPECT_EQ(hashes[0], hashes[1]);
  const auto lines = lines_of(hashes[0]);
  ASSERT_EQ(lines.size(), static_cast<std::size_t>(kFrames));
  EXPECT_TRUE(lines[42].ends_with("  000042")) << lines[42];
  EXPECT_EQ(lines[0].substr(0, 64), lines[14].substr(0, 64)) << "the first picture stands 1.5 s";
  EXPECT_NE(lines[14].substr(0, 64), lines[15].substr(0, 64));

  const auto count = run_shell(
      "ffprobe -v error -count_frames -select_streams v -show_entries "
      "stream=nb_read_frames,width,pix_fmt -of csv=p=0 '" +
      folder.file("a.mp4") + "'");
  EXPECT_EQ(count.out, "320,yuv420p," + std::to_string(kFrames) + "\n") << count.err;
  const auto sections = json::parse(read_file(folder.path() / "a.sections.json"));
  ASSERT_EQ(sections["sections"].size(), 3U);
  EXPECT_EQ(sections["sections"][1]["first_frame"], 15);
  EXPECT_EQ(sections["sections"][1]["caption"], "walk it is");
  EXPECT_TRUE(fs::exists(folder.path() / std::string(sections["sections"][1]["clip"])));
  EXPECT_NE(read_file(folder.path() / "a.srt").find("00:00:01,500 --> 00:00:02,800\nwalk it is"),
            std::string::npos);
}

TEST(Film, PartsComeOutAsInTheWhole) {
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  const auto hashes_of = [&](const std::string& name, std::vector<std::string> more) {
    std::vector<std::string> words = {
        "film",     script, "-o", folder.file(name) + "/", "--hashes", folder.file(name + ".sha256"),
        "--device", "simt"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run_program(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return lines_of(read_file(folder.file(name + ".sha256")));
  };
  const auto all = hashes_of("all", {});
  ASSERT_EQ(all.size(), static_cast<std::size_t>(kFrames));
  const auto part = hashes_of("part", {"--frames", "21:30"});  // from within a picture turning into the next
  ASSERT_EQ(part.size(), 10U);
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 21)) << part[0] << " " << all[21];
  EXPECT_FALSE(fs::exists(folder.file("part/000020.png")));
  EXPECT_TRUE(fs::exists(folder.file("part/000030.png")));
  EXPECT_EQ(read_file(folder.file("part/000025.png")), read_file(folder.file("all/000025.png")));
  const auto told = json::parse(read_file(folder.file("part/sections.json")));
  EXPECT_EQ(told["film"], "part");
  EXPECT_EQ(told["frames"], 10);
  EXPECT_EQ(told["sections"].front()["first_frame"], 21) << "as the pictures are numbered";
  EXPECT_EQ(told["sections"].back()["last_frame"], 30);
}

TEST(Film, GoesOnWhereItWasKilled) {
  if (!ffmpeg_here()) GTEST_SKIP() << "ffmpeg is not installed";
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  fs::create_directory(folder.path() / "bin");
  // Kills whoever asks for a third part.
  write_file(folder.path() / "bin/ffmpeg", "#!/bin/sh\necho x >> '" + folder.file("calls") +
                                               "'\n[ $(wc -l < '" + folder.file("calls") +
                                               "') -ge 3 ] && { kill -9 $PPID; exit 1; }\nexec '" +
                                               find_program("ffmpeg")->string() + "' \"$@\"\n");
  fs::permissions(folder.path() / "bin/ffmpeg", fs::perms::owner_all);
  const std::string film = "'" + (tree::binary_dir() / "attnscope").string() + "' film '" + script +
                           "' --device simt -o '" + folder.file("a.mp4") + "' --hashes '" +
                           folder.file("a.sha256") + "'";
  const auto killed = run_shell("PATH='" + folder.file("bin") + "':$PATH " + film);
  EXPECT_NE(killed.exit_code, 0);
  EXPECT_FALSE(fs::exists(folder.path() / "a.mp4"));
  const auto parts =
      run_shell("for f in '" + folder.file("a.mp4.parts") +
                "'/*.mp4; do ffprobe -v error -show_entries format=duration -of csv=p=0 $f; done");
  EXPECT_EQ(std::ranges::count(parts.out, '\n'), 2) << "two sections can be played: " << parts.out;

  const auto resumed = run_shell(film);
  ASSERT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_NE(resumed.out.find("28 frames were there already"), std::string::npos) << resumed.out;
  EXPECT_TRUE(fs::exists(folder.path() / "a.mp4"));
  const std::string whole = folder.file("whole.sha256");
  run_program({"film", script, "--device", "simt", "-o", folder.file("b.mp4"), "--hashes", whole});
  EXPECT_EQ(read_file(folder.path() / "a.sha256"), read_file(whole));
}

TEST(Film, AWrongNumberIsNotFilmed) {
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  json right = json::parse(read_file(script));
  right["film"][0]["caption"] = "{num_seqs} sequence, {cu_seqlens_q}";
  right["film"][0]["expect"] = {{"cu_seqlens_q", {0, 3}}};
  write_file(script, right.dump(1));
  const std::vector<std::string> check = {"film", script, "--device", "simt", "--check-only"};
  const auto good = run_program(check);
  EXPECT_EQ(good.exit_code, 0) << good.err;
  EXPECT_NE(good.out.find("43 frames, 4.3 s"), std::string::npos) << good.out;
  const auto made =
      run_program({"film", script, "--device", "simt", "-o", folder.file("f") + "/", "--transcript"});
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(read_file(folder.path() / "f/film.txt").find("1 sequence, [0, 3]\n"), std::string::npos);
  const auto sections = json::parse(read_file(folder.path() / "f/sections.json"))["sections"];
  EXPECT_EQ(sections[0]["numbers"][0]["value"], "[0, 3]");

  right["film"][0]["expect"] = {{"cu_seqlens_q", {0, 4}}};
  write_file(script, right.dump(1));
  const auto wrong = run_program({"film", script, "--device", "simt", "-o", folder.file("g") + "/"});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(is_one_sentence(wrong.err)) << wrong.err;
  EXPECT_NE(wrong.err.find("cu_seqlens_q is [0, 3], expected [0,4] (small.json:"), std::string::npos)
      << wrong.err;
  EXPECT_FALSE(fs::exists(folder.path() / "g"));
}

TEST(Film, ATraceGivesTheSameFilmAsItsRun) {
  const TemporaryFolder folder;
  const std::string script = small_script(folder), trace = folder.file("t.attn");
  ASSERT_EQ(run_program({"record", script, "--device", "simt", "-o", trace}).exit_code, 0);
  const auto hashes_of = [&](std::vector<std::string> more, const std::string& name) {
    std::vector<std::string> words = {"film",
                                      script,
                                      "--device",
                                      "simt",
                                      "-o",
                                      folder.file(name) + "/",
                                      "--hashes",
                                      folder.file(name + ".sha256"),
                                      "--no-provenance"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run_program(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return read_file(folder.file(name + ".sha256"));
  };
  EXPECT_EQ(hashes_of({"--trace", trace}, "trace"), hashes_of({}, "run"));
}

TEST(Film, KeptPartsAreDrawnAgainOnlyWhenTheyChanged) {
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  const std::vector<std::string> words = {"film",         script,     "-o",  folder.file("a") + "/",
                                          "--keep-parts", "--device", "simt"};
  ASSERT_EQ(run_program(words).exit_code, 0);
  const auto again = run_program(words);
  EXPECT_NE(again.out.find("43 frames were there already"), std::string::npos) << again.out;
  json changed = json::parse(read_file(script));
  changed["film"][2]["caption"] = "another caption";
  write_file(script, changed.dump());
  const auto third = run_program(words);
  EXPECT_NE(third.out.find("28 frames were there already"), std::string::npos) << third.out;
}

TEST(Film, WithoutFfmpegThePicturesAndTheCommandAreLeft) {
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  const auto result =
      run_shell("cd '" + folder.path().string() + "' && PATH=/nowhere '" +
                (tree::binary_dir() / "attnscope").string() + "' film small.json --device simt -o a.mp4");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_TRUE(is_one_sentence(result.err)) << result.err;
  EXPECT_NE(result.err.find("ffmpeg is not installed, so a.mp4 is not made: its pictures are in a-frames"),
            std::string::npos)
      << result.err;
  EXPECT_TRUE(fs::exists(folder.path() / "a-frames/000042.png"));
  EXPECT_TRUE(fs::exists(folder.path() / "a-frames/sections.json"));
  if (!ffmpeg_here()) return;
  const std::size_t command = result.err.find("ffmpeg -framerate");
  ASSERT_NE(command, std::string::npos) << result.err;
  const auto made = run_shell("cd '" + folder.path().string() + "' && " + result.err.substr(command));
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_GT(fs::file_size(folder.path() / "a.mp4"), 1000U) << "the command is the exact one";
}

TEST(Film, OtherFormatsAndPanels) {
  if (!ffmpeg_here()) GTEST_SKIP() << "ffmpeg is not installed";
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  for (const char* name : {"a.gif", "a.webm"}) {
    const auto result = run_program({"film", script, "-o", folder.file(name), "--size", "320x180", "--frames",
                                     "10:20", "--panel", "mask", "--theme", "dark", "--device", "simt"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto count = run_shell(
        "ffprobe -v error -count_frames -select_streams v -show_entries "
        "stream=nb_read_frames,width -of csv=p=0 '" +
        folder.file(name) + "'");
    EXPECT_EQ(count.out, "320,11\n") << name << count.err;
  }
}

TEST(Film, AVoiceIsHeardWhileItsStopIsHeld) {
  if (!ffmpeg_here()) GTEST_SKIP() << "ffmpeg is not installed";
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  json scenario = json::parse(read_file(script));
  scenario["film"][2]["hold"] = "voice.wav";
  write_file(script, scenario.dump());
  const auto voice = run_shell("ffmpeg -v error -f lavfi -i sine=frequency=440:sample_rate=8000 -t 2 '" +
                               folder.file("voice.wav") + "'");
  ASSERT_EQ(voice.exit_code, 0) << voice.err;
  for (const char* name : {"a.mp4", "a.webm", "a.gif"}) {
    const auto result =
        run_program({"film", script, "-o", folder.file(name), "--sections", "--device", "simt"});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    const auto sound =
        run_shell("ffprobe -v error -select_streams a -show_entries stream=codec_name -of csv=p=0 '" +
                  folder.file(name) + "'");
    const std::string file = name;
    EXPECT_EQ(sound.out, file == "a.mp4" ? "aac\n" : file == "a.webm" ? "opus\n" : "") << name << sound.err;
  }
  // Nothing is heard in the first two seconds; in the last two it is.
  const auto volume = [&](const char* from) {
    return run_shell("ffmpeg -hide_banner -ss " + std::string(from) + " -t 1 -i '" + folder.file("a.mp4") +
                     "' -map 0:a -af volumedetect -f null - 2>&1 | grep max_volume");
  };
  EXPECT_NE(volume("0.5").out.find("-91.0 dB"), std::string::npos) << volume("0.5").out;
  EXPECT_EQ(volume("3.2").out.find("-91.0 dB"), std::string::npos) << volume("3.2").out;
  const auto sections = json::parse(read_file(folder.path() / "a.sections.json"));
  EXPECT_EQ(sections["sections"].size(), 3U);
}

TEST(Film, BadRequestsAreOneSentence) {
  const TemporaryFolder folder;
  const std::string script = small_script(folder);
  const auto refused = [&](std::vector<std::string> more, const std::string& says) {
    std::vector<std::string> words = {"film", script, "--device", "simt"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run_program(words);
    EXPECT_EQ(result.exit_code, 2) << says;
    EXPECT_TRUE(is_one_sentence(result.err)) << result.err;
    EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
  };
  refused({"-o", folder.file("a.avi")}, "use .mp4, .webm, .gif or a folder");
  refused({"-o", "/no/such/folder/a.mp4"}, "/no/such/folder");
  refused({}, "-o");
  refused({"-o", folder.file("a.mp4"), "--size", "321x180"}, "odd side");
  refused({"-o", folder.file("a.mp4"), "--size", "huge"}, "'huge' is not a size");
  refused({"-o", folder.file("a.mp4"), "--frames", "5:4000"}, "the film has frames 0:42");
  refused({"-o", folder.file("a.mp4"), "--frames", "x"}, "--frames 151:300");
  refused({"-o", folder.file("a.mp4"), "--panel", "masks"}, "mask");
  write_file(folder.path() / "000099.png", "another film's");
  refused({"-o", folder.path().string() + "/"}, "000099.png is not of this film");
  if (!ffmpeg_here()) return;
  fs::create_directory(folder.path() / "bin");
  write_file(folder.path() / "bin/ffmpeg", "#!/bin/sh\necho 'Unknown encoder libx264' >&2\nexit 1\n");
  fs::permissions(folder.path() / "bin/ffmpeg", fs::perms::owner_all);
  const auto broken =
      run_shell("PATH='" + folder.file("bin") + "':$PATH '" + (tree::binary_dir() / "attnscope").string() +
                "' film '" + script + "' --device simt -o '" + folder.file("b.mp4") + "'");
  EXPECT_EQ(broken.exit_code, 2);
  EXPECT_NE(broken.err.find("ffmpeg failed: Unknown encoder libx264"), std::string::npos) << broken.err;
  EXPECT_TRUE(is_one_sentence(broken.err)) << broken.err;
}

}  // namespace
}  // namespace attn::app::testing

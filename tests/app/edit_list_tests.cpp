// Films on paper: which picture stands when, what is said, and the texts beside the film.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/edit_list.h"
#include "app/film_coding.h"
#include "app/film_text.h"
#include "app/footage.h"
#include "app/picture_options.h"
#include "app/progress.h"
#include "app/sha256.h"
#include "app/yuv.h"
#include "kernels/common/check.h"
#include "tests/app/program.h"

namespace attn::app {
namespace {

/// The default scenario, recorded once.
const trace::Store& recording() {
  static Footage footage(testing::scenario_subject({"max_steps=15"}), DeviceChoice::simt,
                         [](int, int) { return true; });
  return *footage.store("");
}

Material material() {
  return {.store = [](std::string_view) -> const trace::Store& { return recording(); },
          .fill = [](const std::string& text,
                     const Stop& stop) { return text + " @" + std::to_string(*stop.place.step); }};
}

Stop stop_at(const std::string& name, int step, double hold) {
  Stop stop;
  stop.name = name;
  stop.caption = name + " is said";
  stop.place.step = stop.from.step = step;
  stop.hold = hold;
  stop.where = "test.json:1";
  return stop;
}

TEST(EditList, StopsStandAsLongAsTheySay) {
  Script script;
  script.stops = {stop_at("one", 1, 2.0), stop_at("two", 4, 0.1), stop_at("three", 2, 1.0)};
  const EditList list = edit_film(script, material(), {}, 30);
  ASSERT_EQ(list.shots.size(), 3U);
  EXPECT_EQ(list.shots[0].frames, 60);
  EXPECT_EQ(list.shots[1].frames, 10) << "no more than three changes a second";
  EXPECT_EQ(list.shots[2].frames, 45) << "the last picture stands 1.5 s";
  EXPECT_EQ(list.frames, 115);
  EXPECT_EQ(list.tween, 8) << "0.25 s";
  ASSERT_EQ(list.sections.size(), 3U);
  EXPECT_EQ(list.sections[2].first, 70);
  EXPECT_EQ(list.sections[2].frames, 45);
  EXPECT_EQ(list.sections[1].name, "two");
  EXPECT_EQ(list.sections[1].caption, "two is said @4") << "filled in at the stop's place";
  EXPECT_EQ(list.shots[1].selection.step, 3) << "step 4 is the fourth";
}

TEST(EditList, WithoutAHoldAStopStandsUntilItIsRead) {
  Script script;
  script.stops = {stop_at("short", 1, 0.0), stop_at("long", 1, 0.0)};
  for (Stop& stop : script.stops) stop.hold.reset();
  script.stops[1].predict =
      "one two three  four\nfive six seven eight nine ten eleven twelve thirteen fourteen";
  for (int i = 0; i < 26; ++i) script.stops[1].caption += " word";
  const EditList list = edit_film(script, material(), {}, 30);
  ASSERT_EQ(list.shots.size(), 3U);
  EXPECT_EQ(list.shots[0].frames, 90) << "4 words: the least";
  EXPECT_EQ(list.shots[1].frames, 150) << "a question of 15 words";
  EXPECT_EQ(list.shots[2].frames, 300) << "30 words";
}

TEST(EditList, WhereAFrameLastsLongerThanAShotTheLastStopIsNotLost) {
  Script script;
  for (int i = 0; i < 12; ++i) script.stops.push_back(stop_at("s" + std::to_string(i), 1, 0.4));
  script.stops.push_back(stop_at("last", 1, 4.0));
  const EditList list = edit_film(script, material(), {}, 1);
  for (const Shot& shot : list.shots) EXPECT_GE(shot.frames, 1);
  EXPECT_EQ(list.shots.back().frames, 4);
}

TEST(EditList, TimesDoNotDrift) {
  Script script;
  for (int i = 0; i < 30; ++i) script.stops.push_back(stop_at("s" + std::to_string(i), 1, 0.35));
  Pace pace;
  pace.ends = 0.0;
  const EditList list = edit_film(script, material(), pace, 10);
  EXPECT_EQ(list.frames, 105) << "30 times 0.35 s at 10 frames a second, each of them 3 or 4 frames";
  for (const Shot& shot : list.shots) EXPECT_GE(shot.frames, 3);
}

TEST(EditList, WalksVisitEveryPlaceOfTheirGrain) {
  Script script;
  Stop stop = stop_at("walk", 6, 3.0);
  stop.from.step = 2;
  stop.walk = Walk{trace::Grain::step, 0.5};
  script.stops = {stop};
  const EditList list = edit_film(script, material(), {}, 10);
  ASSERT_EQ(list.shots.size(), 5U);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(list.shots[static_cast<std::size_t>(i)].selection.step, 1 + i);
  EXPECT_EQ(list.shots[1].frames, 5);
  EXPECT_EQ(list.shots[4].frames, 30);
  EXPECT_EQ(list.sections.size(), 1U);

  script.stops[0].from.step = 6;
  script.stops[0].place.step = 2;
  EXPECT_EQ(edit_film(script, material(), {}, 10).shots[1].selection.step, 4) << "backwards too";

  script.stops[0] = stop_at("heads", 3, 1.0);
  script.stops[0].place.stage = script.stops[0].from.stage = trace::Stage::attention;
  script.stops[0].place.head = 3;
  script.stops[0].walk = Walk{trace::Grain::head, 0.0};
  const EditList heads = edit_film(script, material(), {}, 10);
  ASSERT_EQ(heads.shots.size(), 4U);
  EXPECT_EQ(heads.shots[2].selection.head, 2);
  EXPECT_EQ(heads.shots[1].frames, 8) << "0.8 s";

  script.stops[0].walk = Walk{trace::Grain::stage, 0.0};
  EXPECT_THROW(edit_film(script, material(), {}, 10), InputError) << "stages do not lead to another head";
}

TEST(EditList, AQuestionComesBeforeItsAnswer) {
  Script script;
  script.stops = {stop_at("ask", 2, 1.5)};
  script.stops[0].predict = "how many?";
  const EditList list = edit_film(script, material(), {}, 10);
  ASSERT_EQ(list.shots.size(), 2U);
  EXPECT_TRUE(list.shots[0].question);
  EXPECT_EQ(list.shots[0].caption, "how many? @2");
  EXPECT_EQ(list.shots[0].frames, 30);
  EXPECT_FALSE(list.shots[1].question);
  EXPECT_TRUE(list.shots[0].choices.empty());

  script.stops[0].choices = {"two", "three"};
  const EditList picked = edit_film(script, material(), {}, 10);
  EXPECT_EQ(picked.shots[0].choices, (std::vector<std::string>{"two @2", "three @2"}));
  EXPECT_TRUE(picked.shots[1].choices.empty()) << "the answer is told now";
}

TEST(EditList, WithoutStopsTheStepsAreFilmed) {
  const EditList list = edit_film({}, material(), {}, 30);
  ASSERT_EQ(list.shots.size(), 15U);
  EXPECT_EQ(list.shots[0].frames, 45) << "the first picture stands 1.5 s";
  EXPECT_EQ(list.shots[5].frames, 24);
  EXPECT_NE(list.shots[3].caption.find("Decode: one new token"), std::string::npos) << list.shots[3].caption;
  ASSERT_EQ(list.sections.size(), 3U);
  EXPECT_EQ(list.sections[0].name, "steps 1 to 2, prefill");
  EXPECT_EQ(list.sections[1].name, "steps 3 to 14, decode");
  EXPECT_EQ(list.sections[2].name, "step 15, decode");
}

TEST(EditList, PlacesThatThereAreNotAreNamed) {
  Script script;
  script.stops = {stop_at("nowhere", 99, 1.0)};
  try {
    edit_film(script, material(), {}, 30);
    FAIL() << "there is no step 99";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("there is no step 99 (test.json:1)"), std::string::npos)
        << error.what();
  }
  script.stops[0].place.step = 1;
  script.stops[0].place.block = 4000;
  EXPECT_THROW(edit_film(script, material(), {}, 30), InputError);
}

struct TwoSections {
  TwoSections() {
    Script script;
    script.stops = {stop_at("one: <a> & b", 1, 2.0), stop_at("two", 2, 2.0)};
    script.stops[1].predict = "how many?";
    list = edit_film(script, material(), {}, 10);
    film.title = "A film";
    film.provenance = "model; device";
    film.file = "x.mp4";
    film.width = 320;
    film.height = 180;
    film.last = list.frames - 1;
    film.proofs = {{}, {{"stolen", "0.6667", "0.667"}}};
  }
  EditList list;
  FilmFacts film;
};

TEST(FilmText, SubtitlesFollowTheCaptions) {
  const TwoSections f;
  const std::string srt = subrip(f.list, f.film);
  EXPECT_TRUE(
      srt.starts_with("1\n00:00:00,000 --> 00:00:02,000\none: <a> & b is said @1\n\n"
                      "2\n00:00:02,000 --> 00:00:05,000\nhow many? @2\n\n3\n"))
      << srt;
  const std::string vtt = web_vtt(f.list, f.film);
  EXPECT_TRUE(vtt.starts_with("WEBVTT\n\n00:00:00.000 --> 00:00:02.000\none: &lt;a&gt; &amp; b is said"))
      << vtt;
  FilmFacts cut = f.film;
  cut.first = 15;
  cut.last = 29;
  EXPECT_TRUE(subrip(f.list, cut).starts_with("1\n00:00:00,000 --> 00:00:00,500\none")) << "frames 15 to 29";
  const std::string words = transcript(f.list, f.film);
  EXPECT_EQ(words, "A film\n\none: <a> & b\none: <a> & b is said @1\n\ntwo\nhow many? @2\ntwo is said @2\n");
}

TEST(FilmText, SectionsSayWhereTheyAreAndWhatProvesThem) {
  const TwoSections f;
  const auto json = nlohmann::json::parse(sections_json(f.list, f.film));
  EXPECT_EQ(json["fps"], 10);
  EXPECT_EQ(json["frames"], 70);
  ASSERT_EQ(json["sections"].size(), 2U);
  const auto& two = json["sections"][1];
  EXPECT_EQ(two["name"], "two");
  EXPECT_EQ(two["first_frame"], 20);
  EXPECT_EQ(two["last_frame"], 69);
  EXPECT_EQ(two["duration"], 5.0);
  EXPECT_EQ(two["numbers"][0]["fact"], "stolen");
  EXPECT_EQ(two["numbers"][0]["value"], "0.6667");
  EXPECT_EQ(clip_stem(f.list, 0), "01-one-a-b");
  EditList named = f.list;
  const auto stem_of = [&](const char* name) {
    named.sections[0].name = name;
    return clip_stem(named, 0);
  };
  EXPECT_EQ(stem_of("scores of 2"), "01-scores-of-2");
  EXPECT_EQ(stem_of("scores of -2"), "01-scores-of-minus-2") << "a sign is no separator";
  EXPECT_EQ(stem_of("-2 and steps 1-3"), "01-minus-2-and-steps-1-3");
  const std::string metadata = ffmpeg_metadata(f.list, f.film);
  EXPECT_NE(metadata.find("comment=model\\; device\n"), std::string::npos) << metadata;
  EXPECT_NE(metadata.find("[CHAPTER]\nTIMEBASE=1/10\nSTART=20\nEND=70\ntitle=two\n"), std::string::npos);
}

TEST(FilmText, ProgressSaysHowLongIsLeft) {
  EXPECT_EQ(progress_bar("filming", 15, 60, 10.0),
            "filming [#######.......................]  25 %, 30 s left");
  EXPECT_EQ(progress_bar("filming", 1, 100, 10.0),
            "filming [..............................]   1 %, 16:30 min left");
  EXPECT_EQ(progress_bar("filming", 0, 0, 0.0), "filming [..............................]   0 %");
}

TEST(FilmCoding, FormatFollowsTheName) {
  EXPECT_EQ(film_format("a.mp4"), FilmFormat::mp4);
  EXPECT_EQ(film_format("a.WEBM"), FilmFormat::webm);
  EXPECT_EQ(film_format("a.gif"), FilmFormat::gif);
  EXPECT_EQ(film_format("a/"), FilmFormat::pictures);
  EXPECT_EQ(film_format("/tmp"), FilmFormat::pictures);
  EXPECT_THROW(film_format("a.avi"), InputError);
  EXPECT_THROW(film_format("a"), InputError);
}

TEST(FilmCoding, Sizes) {
  EXPECT_EQ(parse_size("4k"), std::pair(3840, 2160));
  EXPECT_EQ(parse_size("vertical"), std::pair(1080, 1920));
  EXPECT_EQ(parse_size("320x180"), std::pair(320, 180));
  EXPECT_THROW(parse_size("320"), InputError);
  EXPECT_THROW(parse_size("320x180x2"), InputError);
  EXPECT_EQ(parse_panel("mask"), viz::PanelId::mask);
  EXPECT_THROW(parse_panel("header"), InputError);
}

TEST(FilmCoding, Sha256) {  // FIPS 180-4 examples, and the two ways to pad
  const auto hash = [](const std::string& text) {
    return sha256({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(FilmCoding, ColoursAsVideoHasThem) {
  const auto flat = [](std::uint8_t r, std::uint8_t g, std::uint8_t b) {
    Image image{4, 2, {}};
    for (int i = 0; i < 8; ++i) image.rgba.insert(image.rgba.end(), {r, g, b, 255});
    const std::vector<std::uint8_t> yuv = to_yuv420(image);
    EXPECT_EQ(yuv.size(), 12U);
    return std::array{yuv[0], yuv[8], yuv[10]};
  };
  using Yuv = std::array<std::uint8_t, 3>;
  EXPECT_EQ(flat(0, 0, 0), (Yuv{16, 128, 128}));
  EXPECT_EQ(flat(255, 255, 255), (Yuv{235, 128, 128}));
  EXPECT_EQ(flat(255, 0, 0), (Yuv{63, 102, 240})) << "BT.709 red";
  EXPECT_EQ(flat(0, 255, 0), (Yuv{173, 42, 26}));
  EXPECT_EQ(flat(0, 0, 255), (Yuv{32, 240, 118}));
}

}  // namespace
}  // namespace attn::app

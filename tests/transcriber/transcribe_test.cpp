// The run over all inputs, with a model of its own that needs no file.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/pipelines/transcriber_of.hpp>

#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "sounds.hpp"
#include "support/golden.hpp"
#include "verbs.hpp"

namespace transcribe_test {
namespace fs = std::filesystem;
using steno::app::options;
using steno::app::outputs;
using steno::app::reporter;
using steno::app::stop;
using steno::app::tally;

// What the model was given, from outside of it.
struct calls {
  std::vector<std::size_t> batches;
  bool long_clip = false, strict = false;
};

// A model of one's own: says how many samples it was given, and fails on recordings of one second, on very short ones
// where it is strict, and on what follows a clip of more than ten seconds.
struct counting_model {
  static constexpr std::string_view architecture = "counting";
  static constexpr int sample_rate = 8000;
  struct options {
    std::string language;
    bool itn = false;
  };
  std::vector<std::string> languages() const { return {"en", "zh"}; }
  steno::segment recognise(std::span<const float> pcm, const options& o, steno::context&) const {
    if (pcm.size() == 8000) steno::fail({.what = "cannot do one second"});
    if (pcm.size() == 800 && log->strict) steno::fail({.what = "went wrong"});
    if (std::exchange(log->long_clip, pcm.size() > 80000)) steno::fail({.what = "breaks off"});
    steno::segment s;
    s.end = static_cast<double>(pcm.size()) / 8000;
    s.text = std::to_string(pcm.size()) + " " + o.language + (o.itn ? " itn" : "");
    s.token_ids = {1};
    return s;
  }
  std::shared_ptr<calls> log = std::make_shared<calls>();
};

}  // namespace transcribe_test

// It takes short clips together.
template <>
struct steno::pipelines::family<transcribe_test::counting_model>
    : steno::pipelines::family_defaults<transcribe_test::counting_model> {
  using counting_model = transcribe_test::counting_model;
  static std::vector<segment> recognise_together(const counting_model& m, std::span<const std::span<const float>> clips,
                                                 const counting_model::options& o, context& c) {
    m.log->batches.push_back(clips.size());
    std::vector<segment> all;
    for (const auto& clip : clips) all.push_back(m.recognise(clip, o, c));
    return all;
  }
};

namespace transcribe_test {

class transcribing : public testing::Test {
 protected:
  std::string wav(const char* name, double seconds) { return steno::test::write_wav(dir.path() / name, seconds); }
  std::string at(const char* name) { return (dir.path() / name).string(); }
  std::string contents(const char* name) {
    std::ostringstream text;
    text << std::ifstream(dir.path() / name).rdbuf();
    return text.str();
  }
  void run() {
    const auto inputs = steno::app::gather_inputs(o);
    std::FILE* file = std::tmpfile();
    {
      steno::app::screen screen(stdout, file);
      outputs out(o, inputs, screen);
      const counting_model counting;
      counting.log->strict = o.parallel_clips > 1;
      steno::app::engine model(steno::transcriber_of(counting), 1);
      reporter report(screen, true, reporter::detail::all);
      steno::app::transcribe_inputs(o, inputs, model, nullptr, out, report, nullptr, count);
      out.finish();
      together = counting.log->batches;
    }
    std::rewind(file);
    said.resize(65536);
    said.resize(std::fread(said.data(), 1, said.size(), file));
    std::fclose(file);
  }
  steno::test::temporary_directory dir;
  options o;
  tally count;
  std::string said;
  std::vector<std::size_t> together;
};

TEST_F(transcribing, one_bad_file_does_not_stop_the_others) {
  std::ofstream(at("c.wav")) << "no sound";
  o.audio = {wav("a.wav", 0.5), at("none.wav"), wav("b.wav", 1.0), at("c.wav"), wav("d.wav", 0.25)};
  o.output = at("out.txt");
  o.inverse_text_normalisation = true;
  run();
  EXPECT_EQ(contents("out.txt"), "4000 auto itn\n2000 auto itn\n");
  EXPECT_EQ(count.done, 2u);
  EXPECT_EQ(count.failed, 3u);
  EXPECT_DOUBLE_EQ(count.audio_seconds, 0.75);
  EXPECT_EQ(said, "steno: " + at("none.wav") + ": No such file or directory\nsteno: " + at("b.wav") +
                      ": cannot do one second\nsteno: " + at("c.wav") +
                      ": cannot read it as audio: Format not recognised (ffmpeg is switched off: --ffmpeg none)\n");
}

// Short ones wait for each other, what is told stays in order, and neither failures nor long ones lose anything.
TEST_F(transcribing, short_inputs_are_recognised_together_and_written_in_order) {
  o.audio = {wav("a.wav", 0.5), at("none.wav"),    wav("b.wav", 0.25), wav("c.wav", 2.0),
             wav("d.wav", 0.1), wav("e.wav", 0.3), wav("f.wav", 1.0),  wav("g.wav", 0.2)};
  o.output = at("out.txt");
  run();
  const std::string alone = contents("out.txt"), alone_said = said;
  EXPECT_EQ(alone, "4000 auto\n2000 auto\n16000 auto\n800 auto\n2400 auto\n1600 auto\n");
  EXPECT_TRUE(together.empty());
  o.parallel_clips = 2;
  count = {};
  run();
  EXPECT_EQ(contents("out.txt"), "4000 auto\n2000 auto\n16000 auto\n2400 auto\n1600 auto\n");
  // Two by two; those in which one failed again alone, each in its turn.
  EXPECT_EQ(together, (std::vector<std::size_t>{2, 2, 1, 1, 2, 1, 1, 1}));
  EXPECT_EQ(count.done, 5u);
  EXPECT_EQ(count.failed, 3u);
  EXPECT_EQ(said, "steno: " + at("none.wav") + ": No such file or directory\nsteno: " + at("d.wav") +
                      ": went wrong\nsteno: " + at("f.wav") + ": cannot do one second\n");
}

TEST_F(transcribing, a_directory_gets_one_file_per_input) {
  o.audio = {wav("a.wav", 0.5), wav("b.wav", 0.25)};
  o.output = at("new/out") + "/";
  o.output_formats = {steno::app::format::vtt};
  run();
  EXPECT_EQ(contents("new/out/a.vtt"), "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\n4000 auto\n\n");
  EXPECT_EQ(contents("new/out/b.vtt"), "WEBVTT\n\n00:00:00.000 --> 00:00:00.250\n2000 auto\n\n");
  o.output = dir.path().string();  // exists, so no slash is needed
  o.output_formats = {steno::app::format::text};
  run();
  EXPECT_EQ(contents("a.txt"), "4000 auto\n");
  EXPECT_EQ(contents("b.txt"), "2000 auto\n");
}

// What was heard before the failure is kept, and the next input begins on a line of its own.
TEST_F(transcribing, an_input_that_breaks_off_keeps_what_was_heard) {
  o.audio = {wav("a.wav", 31), wav("b.wav", 0.25)};  // cut into two clips, of which the second fails
  o.output = at("out.txt");
  run();
  const std::string written = contents("out.txt");
  EXPECT_GT(std::stoi(written), 80000);
  EXPECT_EQ(written.substr(written.find(' ')), " auto\n2000 auto\n");
  EXPECT_EQ(count.failed, 1u);
  EXPECT_EQ(said, "steno: " + at("a.wav") + ": breaks off\n");
}

TEST_F(transcribing, an_input_that_fails_at_once_leaves_no_file) {
  o.audio = {wav("a.wav", 1.0), wav("b.wav", 0.25)};
  o.output = at("out") + "/";
  run();
  EXPECT_FALSE(fs::exists(at("out/a.txt")));
  EXPECT_EQ(contents("out/b.txt"), "2000 auto\n");
}

TEST_F(transcribing, warnings_are_said) {
  o.audio = {steno::test::write_sound(dir.path() / "a.wav", {0.5f, 1e30f}, 8000, 1, SF_FORMAT_WAV | SF_FORMAT_FLOAT)};
  o.output = at("out.txt");
  run();
  EXPECT_EQ(said, "steno: warning: " + at("a.wav") + ": 1 samples are not numbers or far too large; taken as 0\n");
  EXPECT_EQ(count.exit_code(), 3);
}

// Nothing was heard in them, whatever -q says.
TEST_F(transcribing, a_file_without_a_number_is_damaged) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  o.audio = {steno::test::write_sound(dir.path() / "a.wav", {nan, infinity, -infinity}, 8000, 1,
                                      SF_FORMAT_WAV | SF_FORMAT_FLOAT),
             wav("b.wav", 0.25)};
  o.output = at("out.txt");
  run();
  EXPECT_EQ(said, "steno: warning: " + at("a.wav") + ": none of its 3 samples is a number; taken as silence\n");
  EXPECT_EQ(count.exit_code(), 3);
  EXPECT_EQ(count.done, 2u);
}

TEST_F(transcribing, an_input_is_never_overwritten) {
  o.audio = {wav("a.wav", 0.5)};
  o.output = dir.path().string() + "/./a.wav";
  EXPECT_THROW(run(), stop);
  EXPECT_GT(fs::file_size(at("a.wav")), 1000u);
}

TEST_F(transcribing, places_that_cannot_be_written_are_errors) {
  o.audio = {wav("a.wav", 0.5)};
  o.output = at("none/out.txt");
  EXPECT_THROW(run(), steno::error);
  EXPECT_FALSE(fs::exists(at("none")));
  o.output = at("a.wav") + "/";
  EXPECT_THROW(run(), steno::error);
  if (fs::exists("/dev/full")) {
    o.output = "/dev/full";
    EXPECT_THROW(run(), steno::error);
  }
}

TEST_F(transcribing, what_the_model_cannot_do_is_refused) {
  const steno::app::engine model(steno::transcriber_of(counting_model()), 1);
  const auto refusal = [&] {
    try {
      steno::app::check_request(o, model);
    } catch (const stop& s) {
      return s.text;
    }
    return std::string();
  };
  EXPECT_EQ(refusal(), "");
  o.language = "zh";
  EXPECT_EQ(refusal(), "");
  o.language = "xx";
  EXPECT_NE(refusal().find("--language xx: this model knows en, zh"), std::string::npos) << refusal();
  o.language = "auto";
  o.beam = 4;
  EXPECT_NE(refusal().find("--beam 4: this model decodes greedily"), std::string::npos) << refusal();
  o.beam = 0;
  o.max_clip_seconds = 20;
  EXPECT_EQ(refusal(), "");
  o.decoding.best_of = 3;
  EXPECT_NE(refusal().find("--best-of: this model has no such option"), std::string::npos) << refusal();
}

}  // namespace transcribe_test

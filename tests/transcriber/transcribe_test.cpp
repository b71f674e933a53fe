// The run over all inputs, with a recogniser that needs no model.
#include <steno/error.hpp>

#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <sstream>
#include <vector>

#include "sounds.hpp"
#include "support/golden.hpp"
#include "verbs.hpp"

namespace {
namespace fs = std::filesystem;
using steno::app::options;
using steno::app::outputs;
using steno::app::reporter;
using steno::app::stop;
using steno::app::tally;

// Says how many samples it was given, and fails on recordings of one second.
class counting_recogniser final : public steno::app::recogniser {
 public:
  int sample_rate() const override { return 8000; }
  std::vector<std::string> languages() const override { return {"en", "zh"}; }
  bool knows_language(const std::string& l) const override { return l == "auto" || l == "en" || l == "zh"; }
  std::vector<steno::app::ability> abilities() const override {
    using enum steno::app::ability::honour;
    return {{"--language", always}, {"--itn", always}, {"--clips", always}, {"--longest", with_vad, "with --vad"}};
  }
  void punctuate_with(const std::string&, const std::function<void(const std::string&)>&) override {}
  void align_with(const std::string&, const std::function<void(const std::string&)>&) override {}
  std::unique_ptr<steno::app::transcript> read(const steno::app::sample_function& audio, const steno::app::request& r,
                                               const steno::app::transcript_sink& to) override {
    std::vector<float> some(1000);
    std::size_t samples = 0;
    while (const std::size_t n = audio(some)) {
      samples += n;
      to.progress(static_cast<double>(samples) / 8000);
    }
    if (samples == 8000) steno::fail({.what = "cannot do one second"});
    auto made = std::make_unique<counted>();
    steno::segment s;
    s.text = std::to_string(samples) + " " + r.language + (r.inverse_text_normalisation ? " itn" : "");
    made->duration = static_cast<double>(samples) / 8000;
    // Like a model that hears clips together: what is short waits, and is written in capitals when it was not alone.
    if (r.at_once > 1 && samples <= 4000) {
      made->waits = true;
      made->late = std::move(s);
      return made;
    }
    to.heard(s);
    if (samples == 12000) steno::fail({.what = "breaks off"});
    return made;
  }
  void hear_waiting(std::span<steno::app::transcript* const> some, bool rest) override {
    std::vector<counted*> open;
    for (auto* const t : some)
      if (auto* const c = static_cast<counted*>(t); c->waits) open.push_back(c);
    for (std::size_t at = 0; at + (rest ? 0 : 1) < open.size(); at += 2) {
      batches.push_back(std::min<std::size_t>(open.size() - at, 2));
      for (std::size_t i = at; i < at + batches.back(); ++i) {
        open[i]->waits = false;
        if (open[i]->late->text == "800 auto") open[i]->late.reset();  // what goes wrong is told when it is its turn
      }
    }
  }
  std::vector<std::size_t> batches;

 private:
  struct counted final : steno::app::transcript {
    double duration = 0;
    bool waits = false;
    std::optional<steno::segment> late = steno::segment{};
    double waiting_seconds() const override { return waits ? duration : 0; }
    steno::result finish(const steno::app::transcript_sink& to) override {
      if (!late) steno::fail({.what = "went wrong"});
      if (!late->text.empty()) to.heard(*late);
      steno::result out;
      out.duration = duration;
      return out;
    }
  };
};

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
      counting_recogniser model;
      reporter report(screen, true, reporter::detail::all);
      steno::app::transcribe_inputs(o, inputs, model, out, report, nullptr, count);
      out.finish();
      heard_together = model.batches;
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
  std::vector<std::size_t> heard_together;
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
  EXPECT_EQ(
      said,
      "steno: " + at("none.wav") + ": No such file or directory\nsteno: " + at("b.wav") +
          ": cannot do one second\nsteno: " + at("c.wav") +
          ": cannot read it as audio: Format not recognised (convert it: ffmpeg -i FILE -ac 1 -ar 16000 out.wav)\n");
}

// Short ones wait for each other, what is told stays in order, and neither failures nor long ones lose anything.
TEST_F(transcribing, short_inputs_are_heard_together_and_told_in_their_order) {
  o.audio = {wav("a.wav", 0.5), at("none.wav"),    wav("b.wav", 0.25), wav("c.wav", 2.0),
             wav("d.wav", 0.1), wav("e.wav", 0.3), wav("f.wav", 1.0),  wav("g.wav", 0.2)};
  o.output = at("out.txt");
  run();
  const std::string alone = contents("out.txt"), alone_said = said;
  EXPECT_EQ(alone, "4000 auto\n2000 auto\n16000 auto\n800 auto\n2400 auto\n1600 auto\n");
  EXPECT_TRUE(heard_together.empty());
  o.at_once = 2;
  count = {};
  run();
  EXPECT_EQ(contents("out.txt"), "4000 auto\n2000 auto\n16000 auto\n2400 auto\n1600 auto\n");
  EXPECT_EQ(heard_together, (std::vector<std::size_t>{2, 2}));
  EXPECT_EQ(count.done, 5u);
  EXPECT_EQ(count.failed, 3u);
  EXPECT_EQ(said, "steno: " + at("none.wav") + ": No such file or directory\nsteno: " + at("d.wav") +
                      ": went wrong\nsteno: " + at("f.wav") + ": cannot do one second\n");
}

TEST_F(transcribing, a_directory_gets_one_file_per_input) {
  o.audio = {wav("a.wav", 0.5), wav("b.wav", 0.25)};
  o.output = at("new/out") + "/";
  o.output_format = steno::app::format::vtt;
  run();
  EXPECT_EQ(contents("new/out/a.vtt"), "WEBVTT\n\n00:00:00.000 --> 00:00:00.500\n4000 auto\n\n");
  EXPECT_EQ(contents("new/out/b.vtt"), "WEBVTT\n\n00:00:00.000 --> 00:00:00.250\n2000 auto\n\n");
  o.output = dir.path().string();  // exists, so no slash is needed
  o.output_format = steno::app::format::text;
  run();
  EXPECT_EQ(contents("a.txt"), "4000 auto\n");
  EXPECT_EQ(contents("b.txt"), "2000 auto\n");
}

// What was heard before the failure is kept, and the next input begins on a line of its own.
TEST_F(transcribing, an_input_that_breaks_off_keeps_what_was_heard) {
  o.audio = {wav("a.wav", 1.5), wav("b.wav", 0.25)};
  o.output = at("out.txt");
  run();
  EXPECT_EQ(contents("out.txt"), "12000 auto\n2000 auto\n");
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
  const counting_recogniser model;
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
  o.beam = 4;  // not in its list: it has no such option
  EXPECT_NE(refusal().find("--beam 4: this model has no such option"), std::string::npos) << refusal();
  o.beam = 0;
  o.longest = 20;
  EXPECT_NE(refusal().find("--longest: with --vad"), std::string::npos) << refusal();
  o.vad = "energy";
  EXPECT_EQ(refusal(), "");
  o.decoding.best_of = 3;
  EXPECT_NE(refusal().find("--best-of: this model has no such option"), std::string::npos) << refusal();
}

}  // namespace

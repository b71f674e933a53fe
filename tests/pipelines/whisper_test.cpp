// Whisper through the pipeline: a recording is heard as a whole, so its text is the original's.
#include <steno/pipelines/transcriber.hpp>

#include "support/golden.hpp"
#include "support/wav.hpp"
#include "support/whisper_case.hpp"

#include <gtest/gtest.h>

using namespace steno;

TEST(whisper_pipeline, a_recording_is_heard_as_a_whole) {
  STENO_REQUIRE_SHARED(shared);
  const auto folder = shared / "golden/whisper/v3";
  const nlohmann::json want = test::read_json(folder / "expected.json")["transcribe"]["no_thresholds"];
  const test::temporary_directory scratch;
  convert(folder / "checkpoint/hf", scratch.path() / "model.gguf", {.type = dtype::f32});
  const transcriber t((scratch.path() / "model.gguf").string());
  EXPECT_EQ(t.model_name(), "whisper");
  EXPECT_EQ(t.languages().size(), 100u);
  const auto pcm = test::load_wav(folder / "input.wav").pcm;
  context c;
  const result r = t.transcribe(pcm, {}, c);
  EXPECT_EQ(r.language, want["language"].get<std::string>());
  ASSERT_FALSE(r.segments.empty());
  EXPECT_EQ(r.segments[0].extra.size(), 4u);
  double last = 0;
  for (const segment& s : r.segments) {
    EXPECT_LE(s.start, s.end);
    EXPECT_GE(s.start, last);
    last = s.start;
  }
  const segment clip = std::visit(
      [&](const auto& m) -> segment {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(m)>, whisper_any>)
          return recognise(m, std::span(pcm).first(160000), {.language = "german"}, c);
        else
          return {};
      },
      t.model());
  EXPECT_EQ(clip.language, "de");
  EXPECT_THROW((void)t.transcribe(pcm, {.language = "klingon"}, c), error);
}

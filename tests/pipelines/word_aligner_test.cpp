// SPDX-License-Identifier: Apache-2.0
#include <steno/models/load.hpp>
#include <steno/models/qwen3_aligner.hpp>
#include <steno/pipelines/word_aligner.hpp>

#include "support/golden.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace word_aligner_test {

using namespace steno;

const std::string file = (test::compact() / "qwen3_aligner" / "model.gguf").string();
const forced_aligner& model() {
  static const forced_aligner loaded(file);
  return loaded;
}
std::vector<float> sounds(std::size_t count) {
  std::vector<float> pcm(count);
  for (std::size_t i = 0; i < count; ++i)
    pcm[i] =
        std::nearbyint(8000 * std::sin(1e-5f * static_cast<float>(i % 70000) * static_cast<float>(i % 5000))) / 32768;
  return pcm;
}
segment said(double start, double end, const std::string& text) {
  segment s;
  s.start = start;
  s.end = end;
  s.text = text;
  return s;
}

// A segment's words are those of its own samples, moved to where it begins, however the recording came in.
TEST(word_aligner, lays_a_text_over_its_own_samples) {
  const std::vector<float> pcm = sounds(16000 * 12);
  const auto direct = load<qwen3::qwen3_forced_aligner_any>(file);
  context c;
  for (const std::size_t portion : {1000u, 16000u, 192000u}) {
    word_aligner times(model());
    for (std::size_t at = 0; at < pcm.size(); at += portion)
      times.push(std::span<const float>(pcm).subspan(at, std::min(portion, pcm.size() - at)));
    for (const auto& [start, end] : {std::pair{0.0, 5.0}, {6.5, 11.25}}) {
      segment s = said(start, end, "it is said here, \u4f60\u597d");
      times.align(s, c);
      times.forget(end);
      const auto from = static_cast<std::size_t>(start * 16000), to = static_cast<std::size_t>(end * 16000);
      const auto alone = direct.align(std::span<const float>(pcm).subspan(from, to - from), s.text, c);
      ASSERT_EQ(s.words.size(), 6u);
      for (std::size_t i = 0; i < 6; ++i) {
        EXPECT_EQ(s.words[i].text, alone.words[i]);
        EXPECT_EQ(s.words[i].how, timing::aligned);
        EXPECT_NEAR(s.words[i].start, start + static_cast<double>(alone.times[2 * i]) / 1000, 1e-9);
        EXPECT_NEAR(s.words[i].end, start + static_cast<double>(alone.times[2 * i + 1]) / 1000, 1e-9);
        EXPECT_LE(s.words[i].start, s.words[i].end);
      }
    }
  }
}

TEST(word_aligner, leaves_alone_what_it_shall_not_touch) {
  context c;
  word_aligner times(model());
  times.push(sounds(16000 * 30));
  segment native = said(0, 5, "one two");
  native.words = {{.text = "one", .start = 1, .end = 2, .how = timing::native},
                  {.text = "two", .start = 3, .end = 4, .how = timing::native}};
  times.align(native, c);
  EXPECT_EQ(native.words.size(), 2u);
  EXPECT_EQ(native.words[0].how, timing::native);
  segment none = said(0, 5, "");
  times.align(none, c);
  EXPECT_TRUE(none.words.empty());
  // The set's aligner knows 300 classes: 24 s.
  segment far = said(0, 25, "one two");
  times.align(far, c);
  EXPECT_TRUE(far.words.empty());
  // Words without times get them; samples that are not there any more, or not yet, are no trap.
  segment untimed = said(20, 40, "one two");
  untimed.words = {{.text = "one two"}};
  times.align(untimed, c);
  EXPECT_EQ(untimed.words.size(), 2u);
  times.forget(29);
  segment gone = said(0, 5, "one two");
  times.align(gone, c);
  EXPECT_TRUE(gone.words.empty());
}

}  // namespace word_aligner_test

// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/diarizer.hpp>

#include "support/golden.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

namespace diarizer_test {

using namespace steno;

const std::string small = (test::compact() / "sortformer" / "model.gguf").string();

TEST(diarizer, segments_with_speakers_in_order) {
  const diarizer d(small);
  const std::vector<float> pcm = test::random_numbers(5).vector(16000 * 8, -0.3f, 0.3f);
  context c;
  const result r = d.diarize(pcm, {}, c);
  EXPECT_EQ(r.model, "sortformer");
  EXPECT_EQ(r.duration, 8);
  EXPECT_EQ(r.text, "");
  ASSERT_GT(r.segments.size(), 3u);
  double last = 0;
  for (const segment& s : r.segments) {
    EXPECT_GE(s.start, last);
    EXPECT_LT(s.start, s.end);
    EXPECT_LE(s.end, 8);
    ASSERT_TRUE(s.speaker);
    EXPECT_EQ(s.speaker->substr(0, 8), "speaker_");
    last = s.start;
  }
}

TEST(diarizer, a_recording_that_comes_in) {
  const diarizer d(small);
  const std::vector<float> pcm = test::random_numbers(5).vector(16000 * 8 + 3, -0.3f, 0.3f);
  context c;
  diarization one(d, {});
  for (std::size_t at = 0; at < pcm.size(); at += 1234)
    one.push(std::span(pcm).subspan(at, std::min<std::size_t>(1234, pcm.size() - at)), c);
  const result r = one.finish(c), whole = d.diarize(pcm, {}, c);
  EXPECT_EQ(one.activities().rows(), 100);
  EXPECT_EQ(one.activities().cols(), 4);
  ASSERT_EQ(r.segments.size(), whole.segments.size());
  for (std::size_t i = 0; i < r.segments.size(); ++i) {
    EXPECT_EQ(r.segments[i].start, whole.segments[i].start);
    EXPECT_EQ(r.segments[i].speaker, whole.segments[i].speaker);
  }
}

TEST(diarizer, nothing_and_wrong_lengths) {
  const diarizer d(small);
  context c;
  EXPECT_TRUE(d.diarize({}, {}, c).segments.empty());
  diarize_options o;
  o.cache = d.default_cache();
  o.cache->chunk_len = 0;
  EXPECT_THROW((void)d.diarize({}, o, c), error);
}

TEST(diarizer, a_file_of_another_model) {
  try {
    diarizer d((test::compact() / "fsmn_vad" / "model.gguf").string());
    FAIL();
  } catch (const error& e) {
    EXPECT_NE(std::string(e.what()).find("\"sortformer\""), std::string::npos) << e.what();
  }
}

}  // namespace diarizer_test

// Silero VAD on weights that a formula gives: pieces of any length, threads, memory, settings and what files may say.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/silero_vad.hpp>
#include <steno/streaming/voice_activity_detector.hpp>

#include "support/allocations.hpp"
#include "support/refusal.hpp"
#include "support/silero_case.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace silero_vad_test {

using namespace steno;

static_assert(streaming::voice_activity_detector<models::silero_vad_any>);
static_assert(streaming::voice_activity_detector<models::silero_vad_16k>);
static_assert(streaming::voice_activity_detector<models::silero_vad_8k>);

const std::vector<std::size_t> small_widths = {8, 6, 4, 12};

template <class Model = models::silero_vad_any>
Model made(int rate, std::uint32_t left = 0, const std::vector<std::size_t>& widths = small_widths,
           const std::function<void(weights::gguf_writer&)>& more = {}) {
  std::vector<std::byte> image =
      test::silero_gguf(rate, left, test::silero_tensors(rate, 5, widths, widths == small_widths ? 4.0f : 1.0f), more);
  gguf_file file("memory", image);
  return load<Model>(std::move(file), {}, std::move(image));
}

using changes = std::vector<std::pair<std::int64_t, std::int64_t>>;

constexpr models::silero_vad_options eager{.threshold = 0.4, .neg_threshold = 0.3, .min_speech = 64, .min_silence = 64};

template <class Model>
changes of_pieces(const Model& m, std::span<const float> pcm, std::size_t piece, context& c) {
  changes found;
  const auto sink = [&](const segmentation::voice_change& v) { found.emplace_back(v.start_ms, v.end_ms); };
  auto s = m.start(eager);
  std::int64_t settled = 0;
  for (std::span<const float> left = pcm; !left.empty();) {
    const std::size_t n = std::min(piece, left.size());
    m.accept(s, left.first(n), c, sink);
    EXPECT_GE(m.settled_ms(s), settled);
    settled = m.settled_ms(s);
    left = left.subspan(n);
  }
  m.finish(s, c, sink);
  // The state is as it began.
  changes again;
  m.accept(s, pcm, c, [&](const segmentation::voice_change& v) { again.emplace_back(v.start_ms, v.end_ms); });
  m.finish(s, c, [&](const segmentation::voice_change& v) { again.emplace_back(v.start_ms, v.end_ms); });
  EXPECT_EQ(again, found);
  return found;
}

TEST(silero_vad, results_do_not_depend_on_the_pieces) {
  context c;
  for (const int rate : {16000, 8000}) {
    const auto m = made(rate);
    EXPECT_EQ(m.sample_rate, rate);
    const std::vector<float> pcm = test::silero_samples(60017, 3);
    const changes whole = of_pieces(m, pcm, pcm.size(), c);
    EXPECT_GE(whole.size(), 4u);
    for (const std::size_t piece : {1u, 7u, 160u, 255u, 256u, 512u, 4999u})
      EXPECT_EQ(of_pieces(m, pcm, piece, c), whole) << rate << " " << piece;
  }
}

TEST(silero_vad, threads_and_static_extents_leave_the_bits_alone) {
  const std::vector<float> pcm = test::silero_samples(20000, 4);
  const std::vector<std::size_t> published = {128, 64, 64, 128};
  context one;
  const auto any = made(16000, 0, published);
  const std::vector<float> wanted = any.probabilities(pcm, one);
  EXPECT_EQ(wanted.size(), 40u);
  EXPECT_EQ((made<models::silero_vad_16k>(16000, 0, published).probabilities(pcm, one)), wanted);
  for (int threads = 2; threads <= 4; ++threads) {
    thread_pool pool(threads);
    context c(pool);
    EXPECT_EQ(any.probabilities(pcm, c), wanted) << threads;
  }
  EXPECT_EQ((made<models::silero_vad_8k>(8000, 0, published).probabilities(pcm, one)),
            made(8000, 0, published).probabilities(pcm, one));
}

TEST(silero_vad, a_stream_allocates_nothing_once_it_is_warm) {
  const auto m = made(16000);
  const std::vector<float> pcm = test::silero_samples(120000, 3);
  const std::span<const float> all(pcm);
  context c;
  auto s = m.start(eager);
  std::int64_t emitted = 0;
  const auto sink = [&](const segmentation::voice_change& v) { emitted += v.start_ms + v.end_ms; };
  m.accept(s, all.first(40000), c, sink);
  const test::allocation_counter counted;
  for (std::size_t at = 40000; at < all.size(); at += 800) m.accept(s, all.subspan(at, 800), c, sink);
  m.finish(s, c, sink);
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_NE(emitted, 0);
}

TEST(silero_vad, silence_and_nothing_have_no_segments) {
  // A bias of the last convolution far below 0.
  std::vector<test::silero_tensor> tensors = test::silero_tensors(16000, 5, small_widths);
  for (test::silero_tensor& t : tensors)
    if (t.name == "decoder.decoder.2.bias") t.values = {-20};
  std::vector<std::byte> image = test::silero_gguf(16000, 0, tensors);
  gguf_file file("memory", image);
  const auto m = load<models::silero_vad_any>(std::move(file), {}, std::move(image));
  context c;
  for (const std::size_t n : {0u, 1u, 511u, 512u, 513u, 16000u})
    EXPECT_TRUE(streaming::find_speech(m, std::vector<float>(n), c).empty()) << n;
}

TEST(silero_vad, samples_that_are_no_numbers_are_refused) {
  const auto m = made(16000);
  std::vector<float> pcm(1024, std::numeric_limits<float>::quiet_NaN());
  context c;
  EXPECT_NE(test::refusal([&] { (void)m.probabilities(pcm, c); }), "");
}

TEST(silero_vad, settings_are_those_of_the_stream_then_of_the_file) {
  const auto m = made(16000, 0, small_widths, [](weights::gguf_writer& w) {
    w.set("silero_vad.post.threshold", 0.4f);
    w.set("silero_vad.post.neg_threshold", 0.25f);
    w.set("silero_vad.post.min_speech_duration_ms", std::uint32_t{100});
    w.set("silero_vad.post.min_silence_duration_ms", std::uint32_t{200});
    w.set("silero_vad.post.speech_pad_ms", std::uint32_t{50});
    w.set("silero_vad.post.max_speech_duration_ms", std::uint32_t{9000});
    w.set("silero_vad.post.min_silence_at_max_speech_ms", std::uint32_t{60});
    w.set("silero_vad.post.use_max_poss_sil_at_max_speech", false);
  });
  EXPECT_FLOAT_EQ(static_cast<float>(m.segmentation.threshold), 0.4f);
  EXPECT_FLOAT_EQ(static_cast<float>(m.segmentation.neg_threshold), 0.25f);
  EXPECT_EQ(m.segmentation.min_speech, 100);
  EXPECT_EQ(m.segmentation.min_silence, 200);
  EXPECT_EQ(m.segmentation.pad, 50);
  EXPECT_EQ(m.segmentation.max_speech, 9000);
  EXPECT_EQ(m.segmentation.min_silence_at_max_speech, 60);
  EXPECT_FALSE(m.segmentation.longest_silence);
  const auto plain = made(16000);
  EXPECT_EQ(plain.segmentation.threshold, 0.5);
  EXPECT_LT(plain.segmentation.neg_threshold, 0);
  EXPECT_EQ(plain.segmentation.min_speech, 250);
  EXPECT_EQ(plain.segmentation.min_silence, 100);
  EXPECT_EQ(plain.segmentation.pad, 30);
  EXPECT_FALSE(plain.segmentation.max_speech.has_value());
}

TEST(silero_vad, files_with_other_settings_or_sizes_are_refused) {
  const auto refused = [](int rate, std::uint32_t left, const std::function<void(weights::gguf_writer&)>& more = {}) {
    return test::refusal([&] { (void)made(rate, left, small_widths, more); });
  };
  EXPECT_NE(refused(16000, 3).find("left_padding"), std::string::npos);
  EXPECT_NE(refused(11025, 0).find("8000 or 16000"), std::string::npos);
  EXPECT_NE(refused(16000, 0, [](auto& w) { w.set("silero_vad.post.threshold", 1.5f); }).find("post.threshold"),
            std::string::npos);
  EXPECT_NE(refused(16000, 0, [](auto& w) { w.set("silero_vad.post.speech_pad_ms", -1); }).find("speech_pad_ms"),
            std::string::npos);
  EXPECT_NE(test::refusal([] { (void)made<models::silero_vad_16k>(16000); }).find("encoder.0.reparam_conv.weight"),
            std::string::npos);
  // The transform's frames are those of the sample rate.
  std::vector<std::byte> image = test::silero_gguf(8000, 0, test::silero_tensors(16000, 5, small_widths));
  EXPECT_NE(test::refusal([&] {
              (void)load<models::silero_vad_any>(gguf_file("memory", image), {}, image);
            }).find("samples of a frame"),
            std::string::npos);
}

}  // namespace silero_vad_test

// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/frontends/log_mel.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "npy.hpp"
#include "support/allocations.hpp"
#include "support/each_fft.hpp"
#include "support/golden.hpp"

namespace log_mel_test {

using namespace steno;

std::vector<float> noise(std::size_t n) {
  std::mt19937 random(5);
  std::normal_distribution<float> normal(0, 0.1f);
  std::vector<float> x(n);
  for (float& v : x) v = normal(random);
  return x;
}

double hertz(double mel) { return mel < 15 ? mel * 200 / 3 : 1000 * std::pow(6.4, (mel - 15) / 27); }

/// log10 of band b of frame t by the definition, in double.
double reference(const std::vector<float>& pcm, extent t, extent b, extent mels) {
  const auto n = static_cast<extent>(pcm.size());
  const double top = 15 + 27 * std::log(8.0) / std::log(6.4);
  const auto point = [&](extent i) { return hertz(top * static_cast<double>(i) / static_cast<double>(mels + 1)); };
  double sum = 0;
  for (extent k = 0; k <= 200; ++k) {
    const double f = 40.0 * static_cast<double>(k);
    const double w =
        std::min((f - point(b)) / (point(b + 1) - point(b)), (point(b + 2) - f) / (point(b + 2) - point(b + 1)));
    if (w <= 0) continue;
    std::complex<double> bin = 0;
    for (extent i = 0; i < 400; ++i) {
      extent at = 160 * t + i - 200;
      at = at < 0 ? -at : at >= n ? 2 * (n - 1) - at : at;
      const double hann = 0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(i) / 400);
      bin += hann * static_cast<double>(pcm[static_cast<std::size_t>(at)]) *
             std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(i * k % 400) / 400);
    }
    sum += w * 2 / (point(b + 2) - point(b)) * std::norm(bin);
  }
  return std::log10(std::max(sum, 1e-10));
}

TEST(log_mel, equals_the_definition_at_both_ends_and_between) {
  const std::vector<float> pcm = noise(16123);
  const auto check = [&]<class Fft>(extent mels) {
    const frontends::log_mel<dynamic, Fft> front(mels);
    const extent frames = front.frames(16123);
    ASSERT_EQ(frames, 100);
    matrix<float, dynamic, dynamic> y(frames, mels);
    context c;
    front(pcm, y, c);
    // Noise stays far above the floor: its own maximum is not needed. 2e-5: float sums of 400 products.
    for (const extent t : {0, 1, 2, 50, 98, 99})
      for (extent b = 0; b < mels; b += 9)
        EXPECT_NEAR(y(t, b), (reference(pcm, t, b, mels) + 4) / 4, 2e-5) << t << " " << b;
  };
  test::each_fft([&]<class Fft>() {
    for (const extent mels : {80, 128}) check.template operator()<Fft>(mels);
  });
}

TEST(log_mel, filters_are_the_published_ones) {
  STENO_REQUIRE_SHARED(shared);
  for (const extent mels : {80, 128}) {
    const npy::array file = npy::load(shared / "assets/whisper" / ("mel_" + std::to_string(mels) + ".npy"));
    const std::vector<float> want = file.floats();
    const frontends::mel_filters f = frontends::mel_filters::slaney(mels, 400, 16000);
    for (extent b = 0; b < mels; ++b)
      for (extent k = 0; k < 201; ++k) {
        const extent at = k - f.first[static_cast<std::size_t>(b)] + f.begin[static_cast<std::size_t>(b)];
        const bool inside = k >= f.first[static_cast<std::size_t>(b)] && at < f.begin[static_cast<std::size_t>(b) + 1];
        // The published table differs from its formula by up to 2.4e-9.
        EXPECT_NEAR(inside ? f.weights[static_cast<std::size_t>(at)] : 0.0f,
                    want[static_cast<std::size_t>(b * 201 + k)], 3e-9)
            << b << " " << k;
      }
  }
}

TEST(log_mel, a_window_of_a_recording_has_the_bits_it_has_in_the_whole) {
  const std::vector<float> pcm = noise(50000);
  const extent samples = 50000 + 32000;  // zeros behind it, as transcribe() has them
  const frontends::log_mel<80> front;
  context c;
  const extent frames = front.frames(samples);
  matrix<float, dynamic, 80> all(frames, 80), part(37, 80);
  const float top = front.peak(pcm, samples, c);
  front(pcm, samples, 0, top, all, c);
  for (const extent first : {extent{0}, extent{41}, extent{290}, frames - 37}) {
    front(pcm, samples, first, top, part, c);
    EXPECT_TRUE(part == all.middleRows(first, 37)) << first;
  }
  EXPECT_EQ(all.bottomRows(100).minCoeff(), (top - 8 + 4) / 4);
  EXPECT_EQ(all.bottomRows(100).maxCoeff(), (top - 8 + 4) / 4);

  thread_pool pool(2);
  context shared_work{executor(pool)};
  matrix<float, dynamic, 80> again(frames, 80);
  front(pcm, samples, 0, front.peak(pcm, samples, shared_work), again, shared_work);
  EXPECT_TRUE(again == all);
}

TEST(log_mel, parts_and_portions_give_the_same_values) {
  const frontends::log_mel<80> front;
  context c;
  for (const std::size_t size : {0u, 100u, 1000u, 200000u, 500123u}) {
    SCOPED_TRACE(size);
    const std::vector<float> pcm = noise(size);
    const extent n = static_cast<extent>(size), zeros = 48000, total = n + zeros;
    const float top = front.peak(pcm, total, c);
    for (const std::size_t portion : {std::size_t{777}, std::size_t{16000}, std::size_t{300000}}) {
      frontends::log_mel_peak peak;
      for (std::size_t at = 0; at < size; at += portion)
        peak.push(front, std::span(pcm).subspan(at, std::min(portion, size - at)), c);
      EXPECT_EQ(peak.samples(), n);
      EXPECT_EQ(peak.finish(front, zeros, c), top) << portion;
    }
    if (n < 64000) continue;
    const extent first = 150, count = 64;
    matrix<float, dynamic, 80> want(count, 80), part(count, 80);
    front(pcm, total, first, top, want, c);
    const extent from = first * 160 - 200;
    const auto some =
        std::span(pcm).subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count * 160 + 240));
    front(frontends::part_of_recording{some, from, total}, first, top, part, c);
    EXPECT_TRUE(part == want);
  }
}

TEST(log_mel, a_clip_at_once_equals_its_peak_and_frames) {
  const frontends::log_mel<80> front;
  context c;
  for (const std::size_t size : {0u, 159u, 160u, 1000u, 48001u}) {
    const std::vector<float> pcm = noise(size);
    const extent n = static_cast<extent>(size), frames = front.frames(n);
    matrix<float, dynamic, 80> once(frames, 80), twice(frames, 80);
    front(pcm, once, c);
    front(pcm, n, 0, front.peak(pcm, n, c), twice, c);
    EXPECT_TRUE(once == twice) << size;
  }
}

TEST(log_mel, silence_and_short_clips) {
  const frontends::log_mel<> front(80);
  context c;
  matrix<float, dynamic, dynamic> y(10, 80);
  front(std::vector<float>(1600), y, c);
  EXPECT_EQ(y.minCoeff(), -1.5f);  // (log10(1e-10) + 4) / 4
  EXPECT_EQ(y.maxCoeff(), -1.5f);
  EXPECT_EQ(front.frames(159), 0);
  matrix<float, dynamic, dynamic> one(1, 80);
  front(noise(160), one, c);  // shorter than the reflection
  EXPECT_TRUE(one.allFinite());
  EXPECT_THROW(frontends::log_mel<>(0), error);
  EXPECT_THROW(frontends::log_mel<80>(128), error);
}

TEST(log_mel, allocates_nothing_in_steady_state) {
  const frontends::log_mel<> front(80);
  context c;
  const std::vector<float> pcm = noise(32000);
  matrix<float, dynamic, dynamic> y(200, 80);
  front(pcm, y, c);
  test::allocation_counter counted;
  front(pcm, y, c);
  EXPECT_EQ(counted.so_far(), 0u);
}

}  // namespace log_mel_test

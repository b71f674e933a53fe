// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/streaming/sortformer_stream.hpp>

#include "support/allocations.hpp"
#include "support/golden.hpp"
#include "support/play.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

namespace sortformer_stream_test {

using namespace steno;

using stream = nemo::sortformer_stream<nemo::sortformer_any>;

nemo::sortformer_any small() {
  return load<nemo::sortformer_any>((test::compact() / "sortformer" / "model.gguf").string());
}

// All rows, which must come one after the other.
struct rows {
  std::vector<float> all;
  extent next = 0, events = 0;
  void operator()(const nemo::sortformer_event& e) {
    EXPECT_EQ(e.first, next);
    next += e.activities.rows();
    ++events;
    all.insert(all.end(), e.activities.data(), e.activities.data() + e.activities.size());
  }
};

std::vector<float> diarize(const nemo::sortformer_any& m, const nn::speaker_cache_options& o,
                           std::span<const float> pcm, std::span<const std::size_t> portions, context& c) {
  stream s(m, o);
  rows seen;
  test::play(s, pcm, portions, c, [&](const nemo::sortformer_event& e) { seen(e); });
  EXPECT_EQ(seen.next, m.frames(static_cast<extent>(pcm.size())));
  return seen.all;
}

TEST(sortformer_stream, portions_and_threads_make_no_difference) {
  const auto m = small();
  const std::vector<float> pcm = test::random_numbers(1).vector(16000 * 12 + 777, -0.3f, 0.3f);
  context c;
  const std::size_t whole[] = {pcm.size()};
  const std::vector<float> want = diarize(m, m.streaming, pcm, whole, c);
  const std::size_t other[] = {1, 159, 4000, 7, 23456};
  EXPECT_EQ(diarize(m, m.streaming, pcm, other, c), want);
  thread_pool pool(3);
  context several{executor(pool)};
  EXPECT_EQ(diarize(m, m.streaming, pcm, other, several), want);
}

TEST(sortformer_stream, short_recordings) {
  const auto m = small();
  context c;
  const std::size_t whole[] = {100000};
  constexpr std::size_t lengths[] = {0, 1, 159, 160, 1279, 1280, 1281, 7680, 7681, 9000, 15360};
  for (const std::size_t n : lengths) {
    const std::vector<float> pcm(n, 0.01f);
    (void)diarize(m, m.streaming, pcm, whole, c);
  }
}

TEST(sortformer_stream, after_its_end_it_is_as_new) {
  const auto m = small();
  const std::vector<float> pcm = test::random_numbers(2).vector(16000 * 9, -0.3f, 0.3f);
  context c;
  stream s(m);
  rows one, two;
  test::play(s, pcm, 5000, c, [&](const nemo::sortformer_event& e) { one(e); });
  EXPECT_EQ(s.rows(), 0);
  EXPECT_EQ(s.state().rows(), 0);
  test::play(s, pcm, 5000, c, [&](const nemo::sortformer_event& e) { two(e); });
  EXPECT_EQ(one.all, two.all);
}

// Neither memory nor allocations grow with the length.
TEST(sortformer_stream, steady_state_allocates_nothing) {
  const auto m = small();
  const std::vector<float> pcm = test::random_numbers(3).vector(16000 * 4, -0.3f, 0.3f);
  context c;
  stream s(m);
  extent emitted = 0;
  const auto sink = [&](const nemo::sortformer_event& e) { emitted += e.activities.rows(); };
  for (int i = 0; i < 4; ++i) s.push(pcm, c, sink);
  const test::allocation_counter counted;
  const extent before = emitted;
  for (int i = 0; i < 4; ++i) s.push(pcm, c, sink);
  EXPECT_EQ(counted.so_far(), 0u);
  EXPECT_EQ(emitted - before, 198);  // 16 s, in chunks of 6 rows
  EXPECT_EQ(s.state().cache_rows(), 80);
}

// Rows are told when the chunk and what is looked ahead at were heard, not later.
TEST(sortformer_stream, how_long_it_waits) {
  const auto m = small();
  nn::speaker_cache_options o = m.streaming;
  o.chunk_len = 4;
  o.chunk_right_context = 2;
  stream s(m, o);
  context c;
  extent emitted = 0;
  const auto sink = [&](const nemo::sortformer_event& e) { emitted += e.activities.rows(); };
  // The last of 48 frames ends half a window behind its middle, which is 47 * 160 samples from the start.
  s.push(std::vector<float>(47 * 160 + 199), c, sink);
  EXPECT_EQ(emitted, 0);
  s.push(std::vector<float>(1), c, sink);
  EXPECT_EQ(emitted, 4);
}

TEST(sortformer_stream, lengths_that_make_no_sense) {
  const auto m = small();
  const auto found = [&](auto&& change) -> std::string {
    nn::speaker_cache_options o = m.streaming;
    change(o);
    try {
      (void)stream(m, o);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(found([](auto&) {}), "");
  EXPECT_NE(found([](auto& o) { o.chunk_len = 0; }).find("chunk_len: expected 1"), std::string::npos);
  EXPECT_NE(found([](auto& o) { o.spkcache_len = 15; }).find("spkcache_len: expected 16"), std::string::npos);
  EXPECT_NE(found([](auto& o) { o.fifo_len = -1; }).find("fifo_len"), std::string::npos);
  EXPECT_NE(found([](auto& o) { o.spkcache_update_period = 1 << 20; }).find("spkcache_update_period"),
            std::string::npos);
}

}  // namespace sortformer_stream_test

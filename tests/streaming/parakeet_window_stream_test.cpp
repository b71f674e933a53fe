// Pieces encoded anew between their contexts: the tokens of the whole where contexts reach far enough, any portions.
// SPDX-License-Identifier: Apache-2.0
#include <steno/streaming/parakeet_window_stream.hpp>

#include "support/golden.hpp"
#include "support/play.hpp"
#include "support/signal.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace parakeet_window_stream_test {

using namespace steno;

using model_type = nemo::parakeet_transducer_any;
using stream_type = nemo::parakeet_window_stream<model_type>;

std::vector<int> listen(const model_type& m, const nemo::parakeet_windows& w, std::span<const float> pcm,
                        std::size_t portion) {
  context c;
  stream_type s(m, w, c);
  std::vector<int> ids;
  int finals = 0;
  double decoded_seconds = 0;
  const auto sink = [&](const nemo::parakeet_window_event& e) {
    EXPECT_EQ(e.tokens.size(), e.log_probabilities.size());
    EXPECT_GE(e.tokens.size(), ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) EXPECT_EQ(e.tokens[i].id, ids[i]);  // they never change
    ids.clear();
    for (const tokenizers::placed_token& t : e.tokens) ids.push_back(t.id);
    EXPECT_GE(e.decoded_seconds, decoded_seconds);
    decoded_seconds = e.decoded_seconds;
    finals += e.final;
  };
  test::play(s, pcm, portion, c, sink);
  EXPECT_EQ(finals, 1);
  return ids;
}

TEST(parakeet_window_stream, hears_what_a_whole_recording_says) {
  auto m = load<model_type>((test::compact() / "parakeet" / "model.gguf").string());
  m.window = {.back = 4, .ahead = 2};  // rows depend on 36 before and 6 behind
  const auto pcm = test::chirp(16000 * 9 + 321);
  context c;
  const std::vector<int> whole = m.recognise(pcm, {}, c).token_ids;
  ASSERT_FALSE(whole.empty());
  for (const double middle : {0.4, 1.0, 3.0})
    for (const std::size_t portion : {std::size_t{777}, pcm.size()})
      EXPECT_EQ(listen(m, {.left = 3.2, .middle = middle, .right = 0.8}, pcm, portion), whole) << middle;
}

// The same windows as recognise() makes of a long recording.
TEST(parakeet_window_stream, equals_recognise_in_windows) {
  const auto m = load<model_type>((test::compact() / "parakeet" / "model.gguf").string());
  const auto pcm = test::chirp(16000 * 7);
  const nemo::parakeet_windows w{.whole = 0, .left = 1, .middle = 1.2, .right = 0.5};
  context c;
  EXPECT_EQ(listen(m, w, pcm, 1600), m.recognise(pcm, {.windows = w}, c).token_ids);
}

TEST(parakeet_window_stream, nothing_and_little_end_with_one_event) {
  const auto m = load<model_type>((test::compact() / "parakeet" / "model.gguf").string());
  for (const std::size_t n : {std::size_t{0}, std::size_t{100}, std::size_t{161}})
    (void)listen(m, stream_type::default_sizes, std::vector<float>(n), 50);
}

// Tokens that were forgotten change nothing for those that come.
TEST(parakeet_window_stream, forgets) {
  const std::filesystem::path examples = std::filesystem::path(STENO_SOURCE_DIR) / "examples";
  const auto m = load<model_type>((examples / "models/parakeet-tdt.gguf").string());
  const auto sentence = test::load_wav(examples / "audio/train.wav").pcm;
  std::vector<float> pcm;
  for (int i = 0; i < 40; ++i) pcm.insert(pcm.end(), sentence.begin(), sentence.end());
  const nemo::parakeet_windows w = stream_type::default_sizes;
  const std::vector<int> all = listen(m, w, pcm, 16000);
  ASSERT_GT(all.size(), 300u) << "the test wants more tokens than are forgotten at once";
  context c;
  stream_type s(m, w, c);
  std::size_t gone = 0;
  std::vector<int> last;
  const auto sink = [&](const nemo::parakeet_window_event& e) {
    ASSERT_EQ(e.tokens.size(), e.log_probabilities.size());
    last.clear();
    for (const tokenizers::placed_token& t : e.tokens) last.push_back(t.id);
  };
  for (std::size_t at = 0; at < pcm.size(); at += 16000) {
    s.push(std::span<const float>(pcm).subspan(at, std::min<std::size_t>(16000, pcm.size() - at)), c, sink);
    gone += s.forget(s.tokens().size());
  }
  s.finish(c, sink);
  ASSERT_GT(gone, 0u);
  EXPECT_EQ(std::vector<int>(all.begin() + static_cast<std::ptrdiff_t>(gone), all.end()), last);
}

// Windows of 70, 7 and 7 rows over 144700 samples, as NeMo's buffer holds them: the first one waits for chunk and right
// context, and the last one is filled from the end, so that it begins between two rows.
TEST(parakeet_window_stream, windows_are_those_of_the_original) {
  nemo::window_rows rows(70, 7, 7);
  rows.fills = true;
  constexpr extent all = 144700, row = 1280;
  const auto expect = [&](extent first, extent from, extent to, extent last) {
    const nemo::row_window w = rows.at(first, all, row);
    EXPECT_EQ(w.from, from) << first;
    EXPECT_EQ(w.to, to) << first;
    EXPECT_EQ(w.first, first);
    EXPECT_EQ(w.last, last) << first;
  };
  expect(0, 0, 17920, 7);
  expect(7, 0, 26880, 14);
  expect(98, 28 * row, 143360, 105);
  EXPECT_EQ(rows.at(105, all, row).from, 37180);
  EXPECT_EQ(rows.at(105, all, row).to, all);
  EXPECT_GE(rows.at(105, all, row).last, 114);
  rows.fills = false;
  EXPECT_EQ(rows.at(105, all, row).from, 35 * row);
  EXPECT_EQ(rows.at(0, 17920, row).to, 17920);  // nothing follows: the last one, and all of it counts
  EXPECT_GE(rows.at(0, 17920, row).last, 14);
}

}  // namespace parakeet_window_stream_test

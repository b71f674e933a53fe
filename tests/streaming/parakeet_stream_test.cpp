// Streams of the small model with <EOU>: no allocations once warm, portions, chunk sizes, turns.
// SPDX-License-Identifier: Apache-2.0
#include <steno/streaming/parakeet_stream.hpp>

#include "support/allocations.hpp"
#include "support/golden.hpp"
#include "support/play.hpp"
#include "support/signal.hpp"

#include <gtest/gtest.h>

namespace parakeet_stream_test {

using namespace steno;

using model_type = nemo::parakeet_transducer_any;
using stream_type = nemo::parakeet_stream<model_type>;

model_type small() { return load<model_type>((test::compact() / "parakeet" / "model.gguf").string()); }

struct decoded {
  std::vector<int> ids;
  std::vector<nemo::parakeet_event_kind> kinds;
  extent rows = 0;
};
decoded listen(const model_type& m, const nemo::parakeet_stream_options& o, std::span<const float> pcm,
               std::size_t portion) {
  context c;
  stream_type s(m, o, c);
  decoded h;
  std::vector<int> open;
  const auto sink = [&](const nemo::parakeet_event& e) {
    h.kinds.push_back(e.kind);
    open.clear();
    for (const nemo::transducer_token& t : e.tokens) open.push_back(t.id);
    if (!o.keep_turns && (e.kind == nemo::parakeet_event_kind::partial)) return;
    if (o.keep_turns) h.ids.clear();
    h.ids.insert(h.ids.end(), open.begin(), open.end());
  };
  test::play(s, pcm, portion, c, sink);
  h.rows = s.rows();
  return h;
}

TEST(parakeet_stream, steps_allocate_nothing_once_warm) {
  const auto m = small();
  const auto pcm = test::chirp(16000 * 20);
  for (const extent chunk : {extent{0}, extent{1}}) {
    context c;
    stream_type s(m, {.max_symbols = 1, .chunk = chunk}, c);
    const auto sink = [](const nemo::parakeet_event&) {};
    // The cache of 70 rows is full, and its memory has been gone through once.
    s.push(std::span(pcm).first(16000 * 16), c, sink);
    ASSERT_LT(s.tokens().size(), 700u);  // there is room for 1024
    const test::allocation_counter counted;
    for (std::size_t at = 16000 * 16; at < pcm.size(); at += 1280) s.push(std::span(pcm).subspan(at, 1280), c, sink);
    EXPECT_EQ(counted.so_far(), 0u) << chunk;
  }
}

TEST(parakeet_stream, steps_of_a_beam_allocate_nothing_once_warm) {
  const auto m = small();
  const auto pcm = test::chirp(16000 * 44);
  const search::hotword_automaton hotwords(std::vector<std::vector<int>>{{3, 5, 7}, {5, 2}}, {.score = 2});
  for (const search::hotword_automaton* favoured :
       {static_cast<const search::hotword_automaton*>(nullptr), &hotwords}) {
    context c;
    stream_type s(m, {.max_symbols = 1, .search = {.beam = 6, .hotwords = favoured}}, c);
    const auto sink = [](const nemo::parakeet_event&) {};
    s.push(std::span(pcm).first(16000 * 40), c, sink);
    ASSERT_LT(s.tokens().size(), 900u);  // there is room for 1024
    const test::allocation_counter counted;
    for (std::size_t at = 16000 * 40; at < pcm.size(); at += 1280) s.push(std::span(pcm).subspan(at, 1280), c, sink);
    EXPECT_EQ(counted.so_far(), 0u) << (favoured != nullptr);
  }
}

TEST(parakeet_stream, portions_make_no_difference) {
  const auto m = small();
  const auto pcm = test::chirp(16000 * 9 + 77);
  const decoded whole = listen(m, {}, pcm, pcm.size());
  EXPECT_FALSE(whole.ids.empty());
  for (const std::size_t portion : {std::size_t{1}, std::size_t{999}, std::size_t{16000}})
    EXPECT_EQ(listen(m, {}, std::span(pcm).first(portion == 1 ? 8000 : pcm.size()), portion).ids,
              portion == 1 ? listen(m, {}, std::span(pcm).first(8000), 8000).ids : whole.ids);
}

TEST(parakeet_stream, a_row_at_a_time_hears_as_many_rows) {
  const auto m = small();
  const auto pcm = test::chirp(16000 * 4);
  EXPECT_EQ(listen(m, {.chunk = 1}, pcm, 1280).rows, listen(m, {}, pcm, 1280).rows);
}

// Whether turns are kept changes what events hold, not what is heard; forgetting them does.
TEST(parakeet_stream, turns_that_were_told_may_be_dropped) {
  auto m = small();
  const auto pcm = test::chirp(16000 * 9);
  // Made likely, so that there are some.
  auto* bias = const_cast<float*>(m.out.b.floats());
  std::vector<float> changed(bias, bias + m.out.output_size());
  const int end = m.tokenizer.size() - 2;
  ASSERT_EQ(m.tokenizer.piece(end), "<EOU>");
  changed[static_cast<std::size_t>(end)] += 4;
  m.out.b.data = reinterpret_cast<const std::byte*>(changed.data());
  const decoded kept = listen(m, {}, pcm, 1600), dropped = listen(m, {.keep_turns = false}, pcm, 1600);
  EXPECT_GT(std::count(kept.kinds.begin(), kept.kinds.end(), nemo::parakeet_event_kind::end_of_turn), 2);
  EXPECT_EQ(kept.ids, dropped.ids);
  EXPECT_EQ(kept.kinds, dropped.kinds);
  EXPECT_EQ(kept.kinds.back(), nemo::parakeet_event_kind::final);
  EXPECT_NE(listen(m, {.forget_at_end_of_turn = true}, pcm, 1600).ids, kept.ids);
}

}  // namespace parakeet_stream_test

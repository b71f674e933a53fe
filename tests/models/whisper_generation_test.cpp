// What a Whisper file says of generation: tokens that never come, languages it knows, what holds when nobody says more.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/load.hpp>
#include <steno/models/whisper.hpp>
#include <steno/pipelines/whisper.hpp>
#include <steno/weights/gguf_writer.hpp>
#include <steno/weights/random.hpp>

#include <gtest/gtest.h>

#include <algorithm>

#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace whisper_generation_test {

using namespace steno;

whisper::whisper_any compact() { return load<whisper::whisper_any>((test::compact() / "whisper/model.gguf").string()); }

struct listener {
  explicit listener(const whisper::whisper_any& m) {
    weights::random_numbers next(3);
    matrix<float, dynamic, dynamic> x(m.window_frames(), m.frontend.width());
    for (extent i = 0; i < x.size(); ++i) x.data()[i] = next();
    m.encode_rows(core::read(x), w, c);
  }
  std::vector<int> decode(const whisper::whisper_any& m, const whisper::whisper_decode_options& o = {}) {
    return whisper::whisper_decode(m, w, o, c).tokens;
  }
  context c;
  whisper::whisper_window w;
};

whisper::whisper_generation read(const weights::gguf_writer& keys) {
  const std::vector<std::byte> bytes = keys.bytes();
  const tokenizers::whisper_tokens t({"a", "b"}, 2 + 8 + 2 + 1501, true);
  return whisper::read_whisper_generation(gguf_file("file", bytes), t);
}

template <class T>
std::string refused(const char* key, const T& value) {
  weights::gguf_writer w;
  w.set(key, value);
  return test::refusal([&] { read(w); });
}

TEST(whisper_generation, what_the_file_forbids_does_not_come) {
  whisper::whisper_any m = compact();
  listener l(m);
  const std::vector<int> before = l.decode(m);
  const auto text = std::find_if(before.begin(), before.end(), [&](int id) { return id < m.tokenizer.eot; });
  ASSERT_NE(text, before.end());
  const auto holds = [](const std::vector<int>& ids, int id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  m.generation.suppressed = std::vector<int>{*text};
  EXPECT_FALSE(holds(l.decode(m), *text));
  // A list of the user's own counts instead of the file's.
  EXPECT_TRUE(holds(l.decode(m, {.suppress_symbols = false}), *text));
  m.generation.suppressed.reset();

  const whisper::whisper_decode_options plain{.without_timestamps = true};
  const std::vector<int> spoken = l.decode(m, plain);
  ASSERT_FALSE(spoken.empty());
  m.generation.first_suppressed = std::vector<int>{spoken[0]};
  const std::vector<int> other = l.decode(m, plain);
  EXPECT_TRUE(other.empty() || other[0] != spoken[0]);
  whisper::whisper_decode_options blank = plain;
  blank.suppress_blank = false;
  m.generation.first_suppressed = std::vector<int>{};
  const std::vector<int> free = l.decode(m, plain);
  EXPECT_EQ(free, l.decode(m, blank)) << "none is forbidden";
}

TEST(whisper_generation, languages_that_the_file_does_not_name_are_not_found) {
  whisper::whisper_any m = compact();
  // A token less of text is a language more.
  std::vector<std::string> letters =
      gguf_file((test::compact() / "whisper/model.gguf").string()).strings("tokenizer.ggml.tokens");
  letters.pop_back();
  m.tokenizer = tokenizers::whisper_tokens(letters, m.decoder.vocabulary(), true);
  ASSERT_EQ(m.tokenizer.languages, 2);
  listener l(m);
  std::vector<float> probs;
  const int found = whisper::whisper_detect_language(m, l.w, probs, l.c);
  const int other = found == 0 ? 1 : 0;
  m.generation.languages = {other};
  EXPECT_EQ(whisper::whisper_detect_language(m, l.w, probs, l.c), other);
  EXPECT_FLOAT_EQ(probs[static_cast<std::size_t>(other)], 1);
  EXPECT_FLOAT_EQ(probs[static_cast<std::size_t>(found)], 0);
  EXPECT_EQ(m.languages(), std::vector<std::string>{std::string(m.tokenizer.code(other))});
  EXPECT_FALSE(m.supports_language(m.tokenizer.code(found)));
  EXPECT_THROW((void)pipelines::whisper_options(m, {.language = std::string(m.tokenizer.code(found))}, {}), error);
}

TEST(whisper_generation, the_user_wins_over_the_file) {
  whisper::whisper_any m = compact();
  m.tokenizer.multilingual = true;
  m.generation.language = 0;
  m.generation.translate = true;
  m.generation.max_initial = 75;
  auto o = pipelines::whisper_options(m, {}, {});
  EXPECT_EQ(o.decode.language, 0);
  EXPECT_TRUE(o.decode.translate);
  EXPECT_NEAR(*o.decode.max_initial_timestamp, 75 * 30.0 / static_cast<double>(m.window_rows()), 1e-9);
  transcribe_options own;
  m.generation.language = -1;
  own.language = "en";
  own.decoding.translate = false;
  own.decoding.max_initial_timestamp = 0.5;
  o = pipelines::whisper_options(m, own, {});
  EXPECT_EQ(o.decode.language, 0);
  EXPECT_FALSE(o.decode.translate);
  EXPECT_EQ(o.decode.max_initial_timestamp, 0.5);
}

TEST(whisper_generation, keys_are_read_within_their_ranges) {
  const whisper::whisper_generation none = read({});
  EXPECT_FALSE(none.suppressed || none.first_suppressed || none.max_initial || none.translate);
  EXPECT_EQ(none.language, -1);
  EXPECT_TRUE(none.languages.empty() && none.knows(1));
  weights::gguf_writer w;
  w.set("whisper.suppress_tokens", std::vector<std::uint32_t>{1, 0});
  w.set("whisper.begin_suppress_tokens", std::vector<std::uint32_t>{});
  w.set("whisper.languages", std::vector<std::string>{"zh"});
  w.set("whisper.language", "zh");
  w.set("whisper.translate", true);
  w.set("whisper.max_initial_timestamp_index", std::uint32_t{1});
  const whisper::whisper_generation g = read(w);
  EXPECT_EQ(g.suppressed, (std::vector<int>{1, 0}));
  EXPECT_EQ(g.first_suppressed, std::vector<int>());
  EXPECT_EQ(g.languages, std::vector<int>{1});
  EXPECT_EQ(g.language, 1);
  EXPECT_TRUE(g.translate);
  EXPECT_EQ(g.max_initial, 1);
  using numbers = std::vector<std::int32_t>;
  using words = std::vector<std::string>;
  EXPECT_NE(refused("whisper.suppress_tokens", numbers{-1}), "");
  EXPECT_NE(refused("whisper.begin_suppress_tokens", numbers{1 << 25}), "");
  EXPECT_NE(refused("whisper.languages", words{"de"}), "") << "the vocabulary has two";
  EXPECT_NE(refused("whisper.language", std::string("klingon")), "");
  EXPECT_NE(refused("whisper.translate", std::uint32_t{2}), "");
  EXPECT_NE(refused("whisper.max_initial_timestamp_index", std::uint32_t{0}), "");
  weights::gguf_writer unknown;
  unknown.set("whisper.languages", words{"zh"});
  unknown.set("whisper.language", "en");
  EXPECT_NE(test::refusal([&] { read(unknown); }), "");
}

}  // namespace whisper_generation_test

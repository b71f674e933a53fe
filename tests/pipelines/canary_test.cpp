// Canary in the pipelines, on the compact golden set: options, recordings in any portions, windows and their segments.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/canary.hpp>
#include <steno/pipelines/transcribe.hpp>
#include <steno/pipelines/transcriber.hpp>

#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "support/signal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace canary_test {

using namespace steno;

using model_type = nemo::canary_any;
const std::string file = (test::compact() / "canary" / "model.gguf").string();

model_type small() { return load<model_type>(file); }

struct heard {
  result head;
  std::vector<segment> segments;
  std::string text;
};
heard in_portions(const model_type& m, std::span<const float> pcm, std::size_t portion, const transcribe_options& o,
                  bool preview) {
  context c;
  recording<model_type> r(m, o);
  heard all;
  const auto sink = [&](segment s) {
    pipelines::append_text(all.text, s.text);
    all.segments.push_back(std::move(s));
  };
  if (preview) r.preview(pcm, c);
  for (std::size_t at = 0; at < pcm.size(); at += portion)
    r.push(pcm.subspan(at, std::min(portion, pcm.size() - at)), c, sink);
  all.head = r.finish(c, sink);
  return all;
}

TEST(canary_pipeline, options_are_honoured_or_refused) {
  const auto m = small();
  context c;
  const auto pcm = test::chirp(16000 * 2);
  const auto with = [&](const transcribe_options& o) { return transcribe(m, pcm, o, c); };
  const result plain = with({});
  ASSERT_EQ(plain.segments.size(), 1u);
  EXPECT_EQ(plain.language, "en");
  EXPECT_EQ(plain.stop_reason, plain.segments[0].stop_reason);
  EXPECT_EQ(plain.score, plain.segments[0].score);
  const auto ids = [](const result& r) { return r.segments.at(0).token_ids; };
  const auto direct = [&](const nemo::canary_options& o) { return m.recognise(pcm, o, c).token_ids; };
  nemo::canary_options o;
  o.target_language = "de";
  EXPECT_EQ(ids(with({.target_language = "de"})), direct(o));
  o.language = "fr";
  o.target_language = "en";
  EXPECT_EQ(ids(with({.language = "fr", .decoding = {.translate = true}})), direct(o));
  o = {};
  o.punctuation = false;
  EXPECT_EQ(ids(with({.punctuation = false})), direct(o));
  o = {};
  o.itn = true;
  EXPECT_EQ(ids(with({.itn = true})), direct(o));
  o = {};
  o.beam = 3;
  o.length_penalty = 1;
  const result wide = with({.beam = 3, .decoding = {.length_penalty = 1.0}});
  EXPECT_EQ(ids(wide), direct(o));
  EXPECT_EQ(wide.alternatives.size(), 3u);

  const auto refusal = [&](const transcribe_options& options) { return test::refusal([&] { (void)with(options); }); };
  EXPECT_NE(refusal({.hotwords = {"lake"}}).find("option hotwords"), std::string::npos);
  EXPECT_NE(refusal({.look_ahead = 3}).find("option look_ahead"), std::string::npos);
  EXPECT_NE(refusal({.decoding = {.temperature = {{0.5}}}}).find("option temperature"), std::string::npos);
  EXPECT_NE(refusal({.max_clip_seconds = 20}).find("option max_clip_seconds"), std::string::npos);
  EXPECT_NE(refusal({.decoding = {.length_penalty = -1.0}}).find("option length_penalty"), std::string::npos);
  EXPECT_NE(refusal({.language = "xx"}).find("language \"xx\": expected one of en, de, es, fr"), std::string::npos);
  EXPECT_NE(refusal({.target_language = "xx"}).find("target language \"xx\""), std::string::npos);
  EXPECT_NE(refusal({.target_language = "de", .decoding = {.translate = true}}).find("translate"), std::string::npos);
}

TEST(canary_pipeline, the_first_format_has_fewer_options) {
  auto m = small();
  m.tokens.format = nemo::canary_format::canary;
  using f = pipelines::family<model_type>;
  for (const char* name : {"itn", "initial_prompt", "word_timestamps"}) EXPECT_FALSE(f::supports(m, name)) << name;
  for (const char* name : {"language", "target_language", "translate", "punctuation", "beam", "length_penalty"})
    EXPECT_TRUE(f::supports(m, name)) << name;
}

// Segments together are the text of a call of recognise(); portions and preview make no difference.
TEST(canary_pipeline, recordings_of_several_windows) {
  const auto m = small();
  context c;
  const auto pcm = test::chirp(16000 * 100 + 77);
  for (const bool times : {false, true}) {
    SCOPED_TRACE(times);
    transcribe_options o;
    if (times) o.decoding.word_timestamps = true;
    nemo::canary_options own;
    own.timestamps = times;
    const segment whole = m.recognise(pcm, own, c);
    const heard first = in_portions(m, pcm, pcm.size(), o, false);
    std::vector<int> ids;
    std::vector<word> words;
    double last = 0;
    for (const segment& s : first.segments) {
      ids.insert(ids.end(), s.token_ids.begin(), s.token_ids.end());
      words.insert(words.end(), s.words.begin(), s.words.end());
      EXPECT_LE(s.start, s.end);
      EXPECT_GE(s.start, times ? 0 : last);
      last = s.end;
    }
    EXPECT_EQ(ids, whole.token_ids);
    if (!times) {
      EXPECT_EQ(first.text, whole.text);
      EXPECT_EQ(last, whole.end);
    }
    ASSERT_EQ(words.size(), whole.words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      EXPECT_EQ(words[i].text, whole.words[i].text);
      EXPECT_EQ(words[i].start, whole.words[i].start);
    }
    const heard other = in_portions(m, pcm, 7777, o, true);
    ASSERT_EQ(other.segments.size(), first.segments.size());
    for (std::size_t i = 0; i < other.segments.size(); ++i) {
      EXPECT_EQ(other.segments[i].token_ids, first.segments[i].token_ids);
      EXPECT_EQ(other.segments[i].text, first.segments[i].text);
      EXPECT_EQ(other.segments[i].end, first.segments[i].end);
    }
    EXPECT_EQ(other.head.duration, first.head.duration);
  }
}

TEST(canary_pipeline, recordings_that_are_short_or_change) {
  const auto m = small();
  context c;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{9000}, std::size_t{16000}}) {
    const auto pcm = test::chirp(count);
    const heard all = in_portions(m, pcm, 1000, {}, true);
    const segment whole = m.recognise(pcm, {}, c);
    EXPECT_LE(all.segments.size(), 1u);
    if (!all.segments.empty()) {
      EXPECT_EQ(all.segments[0].token_ids, whole.token_ids);
      EXPECT_EQ(all.segments[0].text, whole.text);
      EXPECT_EQ(all.segments[0].end, whole.end);
    }
  }
  const auto pcm = test::chirp(32000);
  recording<model_type> r(m, transcribe_options{});
  r.preview(pcm, c);
  const auto ignore = [](segment) {};
  r.push(std::span(pcm).first(20000), c, ignore);
  EXPECT_NE(test::refusal([&] { (void)r.finish(c, ignore); }).find("has changed"), std::string::npos);
}

TEST(canary_pipeline, by_its_file) {
  const transcriber t(file);
  context c;
  EXPECT_TRUE(t.supports("target_language"));
  EXPECT_TRUE(t.supports("word_timestamps"));
  EXPECT_FALSE(t.supports("hotwords"));
  EXPECT_FALSE(t.streams());
  const auto m = small();
  const auto pcm = test::chirp(16000 * 2);
  EXPECT_EQ(t.transcribe(pcm, {.target_language = "es"}, c).text,
            transcribe(m, pcm, {.target_language = "es"}, c).text);
}

}  // namespace canary_test

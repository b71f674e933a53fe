// Sessions by segments, of models that do not stream: a model of one's own whose words are loudnesses, so that all that
// is told is known beforehand. The bundled models: any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/segment_session.hpp>
#include <steno/pipelines/transcribe.hpp>
#include <steno/pipelines/transcriber_of.hpp>

#include "support/allocations.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

namespace segment_session_test {

using namespace steno;

constexpr int rate = 16000;
constexpr std::size_t word_samples = 4800;  // 0.3 s

// Each 0.3 s from the first loud sample on are a word, named by how loud it is; one that is cut off is a guess, and a
// model that is fickle takes back the word before it at times.
struct loud_words {
  static constexpr std::string_view architecture = "loud_words";
  static constexpr int sample_rate = rate;
  struct options {
    std::string language = "auto";
    int beam = 0;
  };
  double max_clip_seconds = 0;
  bool fickle = false;
  bool with_words = true;
  mutable std::vector<double> clips = {};  // seconds of each clip that it had

  std::vector<std::string> languages() const { return {"en", "de"}; }
  segment recognise(std::span<const float> pcm, const options& o, context&) const {
    clips.push_back(static_cast<double>(pcm.size()) / sample_rate);
    segment s;
    s.end = clips.back();
    s.language = o.language;
    s.score = -static_cast<double>(pcm.size());
    std::size_t at = 0;
    while (at < pcm.size() && std::abs(pcm[at]) < 0.05f) ++at;
    for (; at < pcm.size(); at += word_samples) {
      const auto part = pcm.subspan(at, std::min(word_samples, pcm.size() - at));
      float loud = 0;
      for (const float x : part) loud = std::max(loud, std::abs(x));
      if (loud < 0.05f) break;
      const bool whole = part.size() == word_samples;
      std::string text = "w" + std::to_string(static_cast<int>(std::lround(loud * 10))) + (whole ? "" : "?");
      if (fickle && pcm.size() > 5 * rate / 2 && at < 2 * word_samples) text = "x" + text;
      pipelines::append_text(s.text, text);
      s.token_ids.push_back(static_cast<int>(std::lround(loud * 10)));
      if (!with_words) continue;
      const double start = static_cast<double>(at) / rate;
      s.words.push_back({.text = text, .start = start, .end = start + 0.3, .confidence = 1, .how = timing::native});
    }
    return s;
  }
};
static_assert(recogniser<loud_words> && !streaming::streaming_recogniser<loud_words>);

// Words of these loudnesses in tenths, 0 for 0.3 s of silence; 50 ms of rest behind each, or a detector would take them
// for the background.
std::vector<float> spoken(const std::vector<int>& words) {
  std::vector<float> pcm;
  for (const int w : words)
    for (std::size_t i = 0; i < word_samples; ++i)
      pcm.push_back(i < word_samples - 800 ? (i % 2 == 0 ? 1.0f : -1.0f) * static_cast<float>(w) / 10 : 0.0f);
  return pcm;
}
const std::vector<int> rest(6, 0);
std::vector<int> operator+(std::vector<int> a, const std::vector<int>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<session_event> listen(
    const transcriber& t, std::span<const float> pcm, const session_options& o = {},
    const pipelines::session_models& m = {}, const std::function<std::size_t()>& portion = [] { return 1600; }) {
  context c;
  any_session s(t, o, c, m);
  std::vector<session_event> all;
  const auto sink = [&](session_event e) { all.push_back(std::move(e)); };
  while (!pcm.empty()) {
    const auto some = pcm.first(std::min(pcm.size(), portion()));
    s.push(some, c, sink);
    pcm = pcm.subspan(some.size());
  }
  s.finish(c, sink);
  EXPECT_TRUE(s.over());
  std::string stable;
  for (const session_event& e : all) {
    EXPECT_TRUE(e.utterance.text.starts_with(stable)) << stable << " became " << e.utterance.text;
    EXPECT_TRUE(e.utterance.text.starts_with(e.stable));
    stable = e.final() ? "" : e.stable;
  }
  EXPECT_TRUE(!all.empty() && all.back().final());
  return all;
}
std::vector<std::string> finals(const std::vector<session_event>& events) {
  std::vector<std::string> all;
  for (const session_event& e : events)
    if (e.final()) all.push_back(e.utterance.text);
  return all;
}
std::string written(const std::vector<session_event>& events) {
  std::ostringstream out;
  for (const session_event& e : events)
    out << e.final() << static_cast<int>(e.endpoint) << ' ' << std::hexfloat << e.utterance.start << ' '
        << e.utterance.end << ' ' << e.utterance.text << " [" << e.stable << "] " << e.score.value_or(0) << '\n';
  return out.str();
}
template <class F>
std::string refusal(F&& f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(segment_session, a_final_result_is_what_a_recording_with_the_detector_has) {
  const auto pcm = spoken(rest + std::vector<int>{3, 4, 5, 6, 7} + rest + std::vector<int>{8, 2, 9} + rest);
  const transcriber t = transcriber_of(loud_words{});
  const any_vad energy = open_vad("energy");
  context c;
  const result offline = t.transcribe(pcm, {.vad = &energy}, c);
  ASSERT_EQ(offline.segments.size(), 2u);
  EXPECT_EQ(offline.segments[0].text, "w3 w4 w5 w6 w7");
  const auto events = listen(t, pcm);
  std::size_t i = 0;
  for (const session_event& e : events) {
    if (!e.final() || e.utterance.text.empty()) continue;
    ASSERT_LT(i, 2u);
    const segment& want = offline.segments[i++];
    EXPECT_EQ(e.utterance.text, want.text);
    EXPECT_EQ(e.utterance.start, want.start);
    EXPECT_EQ(e.utterance.end, want.end);
    EXPECT_EQ(e.utterance.token_ids, want.token_ids);
    EXPECT_EQ(e.score, want.score);
    EXPECT_EQ(e.endpoint, endpoint_kind::endpoint);
    ASSERT_EQ(e.utterance.words.size(), want.words.size());
    for (std::size_t w = 0; w < want.words.size(); ++w) {
      EXPECT_EQ(e.utterance.words[w].text, want.words[w].text);
      EXPECT_EQ(e.utterance.words[w].start, want.words[w].start);
    }
  }
  EXPECT_EQ(i, 2u);
  EXPECT_EQ(finals(events).back(), "");
  EXPECT_EQ(events.back().endpoint, endpoint_kind::none);
}

TEST(segment_session, words_that_agree_twice_are_stable_and_come_on_the_way) {
  const auto pcm = spoken(rest + std::vector<int>{3, 4, 5, 6, 7, 8, 9, 3, 4, 5} + rest);
  const auto events = listen(transcriber_of(loud_words{}), pcm);
  ASSERT_GT(events.size(), 5u);
  EXPECT_FALSE(events[0].final());
  EXPECT_LE(events[0].utterance.end, 1.8 + 0.6);  // speech begins at 1.8 s
  EXPECT_EQ(events[0].stable, "");
  EXPECT_EQ(events[1].stable, "w3");  // of "w3 w4?" and "w3 w4 w5 w6?"
  std::size_t longest = 0;
  for (const session_event& e : events)
    if (!e.final()) {
      longest = std::max(longest, e.stable.size());
      EXPECT_EQ(e.stable.find('?'), std::string::npos) << e.stable;
      EXPECT_TRUE(e.utterance.words.empty());
      EXPECT_EQ(e.nbest.size(), 1u);
    }
  EXPECT_GE(longest, std::string("w3 w4 w5 w6 w7").size());
  EXPECT_EQ(finals(events)[0], "w3 w4 w5 w6 w7 w8 w9 w3 w4 w5");
}

TEST(segment_session, what_was_stable_stays_when_the_model_changes_its_mind) {
  const auto pcm = spoken(rest + std::vector<int>{3, 4, 5, 6, 7, 8, 9, 3, 4, 5} + rest);
  for (const bool with_words : {true, false}) {
    const auto events = listen(transcriber_of(loud_words{.fickle = true, .with_words = with_words}), pcm);
    EXPECT_EQ(finals(events)[0], "w3 w4 w5 w6 w7 w8 w9 w3 w4 w5");
    for (const session_event& e : events)
      if (e.final() && !e.utterance.text.empty()) {
        EXPECT_TRUE(e.utterance.token_ids.empty());  // nobody decoded this text
        EXPECT_FALSE(e.score);
        ASSERT_EQ(e.utterance.words.size(), with_words ? 10u : 0u);
        for (std::size_t i = 0; with_words && i < 10; ++i)
          EXPECT_NEAR(e.utterance.words[i].start, 1.8 + 0.3 * static_cast<double>(i), 0.02) << i;
      }
  }
}

TEST(segment_session, portions_and_silence_make_no_difference) {
  const auto pcm = spoken(std::vector<int>{3, 4} + rest + std::vector<int>{3, 4, 5, 6, 7, 8, 9, 3, 4, 5} + rest);
  const transcriber t = transcriber_of(loud_words{});
  const std::string want = written(listen(t, pcm));
  EXPECT_EQ(written(listen(t, pcm, {}, {}, [&] { return pcm.size(); })), want);
  EXPECT_EQ(written(listen(t, pcm, {}, {}, [] { return 7; })), want);
  test::random_numbers random(5);
  EXPECT_EQ(written(listen(t, pcm, {}, {},
                           [&] { return static_cast<std::size_t>(1 + std::lround(random.uniform(0, 30000))); })),
            want);
  const loud_words silent;
  context c;
  pipelines::segment_session s(silent, session_options{}, c);
  s.push(std::vector<float>(60 * rate), c, [](const session_event&) { FAIL(); });
  EXPECT_TRUE(silent.clips.empty());
}

TEST(segment_session, a_segment_costs_a_fixed_number_of_times_itself) {
  std::vector<int> words;
  for (int i = 0; i < 90; ++i) words.push_back(3 + i % 7);  // 27 s
  const loud_words m;
  context c;
  pipelines::segment_session s(m, session_options{}, c);
  int partial = 0;
  const auto sink = [&](const session_event& e) { partial += e.final() ? 0 : 1; };
  s.push(spoken(words + rest), c, sink);
  double all = 0;
  for (const double seconds : m.clips) all += seconds;
  EXPECT_LT(all, 8 * 27);
  EXPECT_GT(partial, 10);
  // Without partial results a segment is recognised once.
  const loud_words once;
  pipelines::segment_session quiet(once, session_options{.partial_seconds = 0}, c);
  partial = 0;
  quiet.push(spoken(words + rest), c, sink);
  EXPECT_EQ(partial, 0);
  EXPECT_EQ(once.clips.size(), 1u);
}

TEST(segment_session, longer_segments_are_cut_at_quiet_places_as_recordings_are) {
  std::vector<int> words;
  for (int i = 0; i < 60; ++i) words.push_back(i % 11 == 10 ? 1 : 3 + i % 7);  // 18 s
  const auto pcm = spoken(rest + words + rest);
  const transcriber t = transcriber_of(loud_words{.max_clip_seconds = 5});
  const any_vad energy = open_vad("energy");
  context c;
  std::vector<std::string> offline;
  for (const segment& s : t.transcribe(pcm, {.vad = &energy}, c).segments) offline.push_back(s.text);
  EXPECT_GE(offline.size(), 4u);
  const auto events = listen(t, pcm);
  std::vector<std::string> live = finals(events);
  ASSERT_FALSE(live.empty());
  EXPECT_EQ(live.back(), "");
  live.pop_back();
  EXPECT_EQ(live, offline);
  int limits = 0;
  for (const session_event& e : events) {
    EXPECT_LE(e.utterance.end - e.utterance.start, 5.0);
    limits += e.final() && e.endpoint == endpoint_kind::none ? 1 : 0;
  }
  EXPECT_EQ(limits, static_cast<int>(offline.size()));  // and the end of the audio, less the last utterance
  for (const session_event& e : listen(t, pcm, {.max_utterance_seconds = 9, .limit_seconds = 3}))
    EXPECT_LE(e.utterance.end - e.utterance.start, 3.0);
}

TEST(segment_session, endpoints_are_switched_off_and_end_a_session_that_does_not_continue) {
  const auto pcm = spoken(rest + std::vector<int>{3, 4, 5} + rest + std::vector<int>{6, 7, 8} + rest);
  const transcriber t = transcriber_of(loud_words{});
  EXPECT_EQ(finals(listen(t, pcm)), (std::vector<std::string>{"w3 w4 w5", "w6 w7 w8", ""}));
  const auto one = listen(t, pcm, {.continuous = false});
  EXPECT_EQ(finals(one), std::vector<std::string>{"w3 w4 w5"});
  EXPECT_EQ(one.back().endpoint, endpoint_kind::endpoint);
  const auto endless = listen(t, pcm, {.endpoints = false});
  ASSERT_EQ(finals(endless).size(), 1u);                 // this model ends at the first silence
  EXPECT_NEAR(endless.back().utterance.end, 5.4, 0.11);  // where speech has ended
  EXPECT_EQ(endless.back().endpoint, endpoint_kind::none);
}

TEST(segment_session, options_are_honoured_or_refused_by_name) {
  const transcriber t = transcriber_of(loud_words{});
  EXPECT_FALSE(t.streams());
  for (const char* name : {"language", "beam", "endpoints", "max_utterance_seconds", "partial_seconds", "continuous"})
    EXPECT_TRUE(t.supports_live(name)) << name;
  for (const char* name : {"chunk_size", "left_chunks", "left_context", "look_ahead", "rescore", "forget_turns",
                           "hotwords", "hotword_score", "no such option"})
    EXPECT_FALSE(t.supports_live(name)) << name;
  context c;
  EXPECT_NE(refusal([&] { any_session(t, {.chunk_size = 4}, c); }).find("option chunk_size"), std::string::npos);
  EXPECT_NE(refusal([&] { any_session(t, {.language = "fr"}, c); }).find("\"fr\""), std::string::npos);
  EXPECT_NE(refusal([&] { any_session(t, {.partial_seconds = -1}, c); }).find("partial_seconds"), std::string::npos);
  EXPECT_EQ(listen(t, spoken(rest + std::vector<int>{3} + rest), {.language = "de"})[0].utterance.language, "de");
  const any_vad narrow = open_vad("energy", {}, 8000);
  EXPECT_NE(refusal([&] { any_session(t, {}, c, {.vad = &narrow}); }).find("8000"), std::string::npos);
  const transcriber other = transcriber_of(loud_words{});
  EXPECT_NE(refusal([&] { any_session(t, {}, c, {.final_model = &other}); }).find("one that streams"),
            std::string::npos);
}

TEST(segment_session, quiet_portions_allocate_nothing_and_memory_stays) {
  const auto pcm = spoken(rest + std::vector<int>{3, 4, 5, 6, 7} + rest);
  const loud_words m;
  context c;
  pipelines::segment_session s(m, session_options{}, c);
  std::size_t told = 0, quiet = 0, allocated = 0;
  const auto sink = [&](const session_event&) { ++told; };
  for (int round = 0; round < 40; ++round)
    for (std::size_t at = 0; at < pcm.size(); at += 160) {
      const std::size_t before = told, clips = m.clips.size();
      const test::allocation_counter counted;
      s.push(std::span(pcm).subspan(at, std::min<std::size_t>(160, pcm.size() - at)), c, sink);
      if (round < 2 || told > before || m.clips.size() > clips) continue;
      ++quiet;
      allocated += counted.so_far();
    }
  EXPECT_GT(quiet, 1000u);
  EXPECT_EQ(allocated, 0u);
  EXPECT_GT(told, 100u);
}

}  // namespace segment_session_test

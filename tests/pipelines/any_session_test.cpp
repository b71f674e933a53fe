// Sessions of every family, with the bundled models: portions make no difference, what is stable stays, sessions share
// a model, and what cannot be done is said. Families that do not stream by themselves recognise segments.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/qwen3_asr.hpp>
#include <steno/pipelines/transcriber_of.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "support/allocations.hpp"
#include "support/emulated.hpp"
#include "support/golden.hpp"
#include "support/wav.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace any_session_test {

namespace fs = std::filesystem;
using namespace steno;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

transcriber open(const std::string& name) {
  const fs::path bundled = examples / "models" / (name + ".gguf");
  return transcriber((fs::exists(bundled) ? bundled : test::compact() / name / "model.gguf").string());
}

// An emulator takes half an hour for a session's windows of 30 s.
bool left_out(std::string_view name) { return test::emulated() && name == "whisper"; }

// Two of the bundled sentences with rests around them. Not shopping.wav: half of its copies, louder or later, lose
// their last word in Parakeet-TDT's stream, whatever the kernels; of these two none does in any of the models here.
std::vector<float> two_sentences() {
  std::vector<float> all(8000);
  for (const char* name : {"train.wav", "question.wav"}) {
    const auto pcm = test::load_wav(examples / "audio" / name).pcm;
    all.insert(all.end(), pcm.begin(), pcm.end());
    all.insert(all.end(), 40000, 0.0f);
  }
  return all;
}

// All of an event, so that texts that are equal mean events that are.
std::string written(const session_event& e) {
  std::ostringstream out;
  out << std::hexfloat << (e.final() ? "final " : "partial ") << streaming::endpoint_name(e.endpoint) << ' '
      << e.utterance.start << ' ' << e.utterance.end << " [" << e.utterance.text << "] [" << e.stable << "] "
      << e.score.value_or(0) << ' ' << e.stop;
  for (const int id : e.utterance.token_ids) out << ' ' << id;
  for (const word& w : e.utterance.words) out << ' ' << w.text << ' ' << w.start << ' ' << w.end << ' ' << w.confidence;
  for (const streaming::session_alternative& a : e.nbest) {
    out << " {" << a.text << ' ' << a.score.value_or(0);
    for (const streaming::session_piece& p : a.pieces) out << ' ' << p.text << ' ' << p.start_ms << ' ' << p.end_ms;
    out << '}';
  }
  return out.str();
}

// What a session tells when it is handed portions of the sizes that `next` gives, one after the other.
template <class Next>
std::vector<session_event> listen(const transcriber& m, std::span<const float> pcm, const session_options& o,
                                  Next&& next) {
  context c;
  any_session s(m, o, c);
  std::vector<session_event> all;
  const auto sink = [&](session_event e) { all.push_back(std::move(e)); };
  while (!pcm.empty()) {
    const auto some = pcm.first(std::min(pcm.size(), static_cast<std::size_t>(next())));
    s.push(some, c, sink);
    pcm = pcm.subspan(some.size());
  }
  s.finish(c, sink);
  EXPECT_TRUE(s.over());
  const std::size_t told = all.size();  // what comes now comes too late
  s.push(std::vector<float>(100000), c, sink);
  s.finish(c, sink);
  EXPECT_EQ(all.size(), told);
  return all;
}
std::vector<session_event> listen(const transcriber& m, std::span<const float> pcm, const session_options& o = {}) {
  return listen(m, pcm, o, [] { return 1600; });
}
std::string finals(const std::vector<session_event>& events) {
  std::string text;
  for (const session_event& e : events)
    if (e.final() && !e.utterance.text.empty()) text.append(text.empty() ? "" : " ").append(e.utterance.text);
  return text;
}

class any_session_of : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (left_out(GetParam())) GTEST_SKIP() << "too long for an emulator";
  }
  const transcriber model = open(GetParam());
  const std::vector<float> pcm = two_sentences();
};

TEST_P(any_session_of, portions_make_no_difference) {
  const auto alone = listen(model, pcm);
  ASSERT_GT(alone.size(), 2u);
  const auto expect_same = [&](const std::vector<session_event>& other) {
    ASSERT_EQ(other.size(), alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_EQ(written(other[i]), written(alone[i])) << i;
  };
  expect_same(listen(model, pcm, {}, [&] { return pcm.size(); }));
  std::uint32_t seed = 7;
  expect_same(listen(model, pcm, {}, [&] { return 1 + (seed = seed * 1664525u + 1013904223u) / (1u << 18); }));
}

TEST_P(any_session_of, results_go_forward_and_what_is_stable_stays) {
  const auto events = listen(model, pcm);
  std::string stable;
  double start = 0, heard = 0;
  for (const session_event& e : events) {
    EXPECT_TRUE(e.utterance.text.starts_with(stable)) << stable << " became " << e.utterance.text;
    EXPECT_TRUE(e.utterance.text.starts_with(e.stable));
    EXPECT_FALSE(e.nbest.empty());
    EXPECT_GE(e.utterance.start, start);
    EXPECT_GE(e.utterance.end, e.utterance.start);
    EXPECT_LE(e.utterance.end, static_cast<double>(pcm.size()) / 16000 + 0.1);
    if (!e.final()) {
      EXPECT_TRUE(e.utterance.words.empty());
      EXPECT_EQ(e.endpoint, endpoint_kind::none);
      EXPECT_GE(e.utterance.end, heard);
    }
    heard = e.utterance.end;
    start = e.utterance.start;
    stable = e.final() ? "" : e.stable;
  }
  EXPECT_TRUE(events.back().final());
  EXPECT_EQ(events.back().endpoint, endpoint_kind::none);
}

TEST_P(any_session_of, nothing_is_told_of_nothing_but_the_end) {
  const auto events = listen(model, {});
  ASSERT_EQ(events.size(), 1u);
  EXPECT_TRUE(events[0].final());
  EXPECT_EQ(events[0].utterance.text, "");
  EXPECT_EQ(events[0].nbest.size(), 1u);
}

// One thread, one context, one model, two sessions in turn; one of them moves house meanwhile.
TEST_P(any_session_of, sessions_share_a_model_and_a_context) {
  context c;
  std::vector<any_session> sessions;
  sessions.emplace_back(model, session_options{}, c);
  std::vector<std::string> told[2];
  const auto into = [&](std::size_t i) {
    return [&told, i](const session_event& e) { told[i].push_back(written(e)); };
  };
  const auto piece = [&](std::size_t at) {
    return std::span(pcm).subspan(std::min(at, pcm.size()),
                                  std::min<std::size_t>(16000, pcm.size() - std::min(at, pcm.size())));
  };
  sessions[0].push(piece(0), c, into(0));
  sessions.emplace_back(model, session_options{}, c);
  for (std::size_t at = 0; at < pcm.size(); at += 16000) {
    sessions[0].push(piece(at + 16000), c, into(0));
    sessions[1].push(piece(at), c, into(1));
  }
  for (std::size_t i = 0; i < 2; ++i) sessions[i].finish(c, into(i));
  EXPECT_EQ(told[0], told[1]);
  EXPECT_GT(told[0].size(), 2u);
}

INSTANTIATE_TEST_SUITE_P(each, any_session_of,
                         testing::Values("u2", "parakeet-ctc", "parakeet-tdt", "parakeet-eou", "qwen3-asr",
                                         "paraformer-online", "demo", "paraformer", "whisper", "fun-asr-nano",
                                         "seaco_paraformer"),
                         [](const auto& family) {
                           std::string name = family.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(any_session, says_what_the_bundled_recordings_say) {
  const auto pcm = two_sentences();
  for (const char* name :
       {"u2", "parakeet-tdt", "paraformer-online", "demo", "paraformer", "whisper", "fun-asr-nano"}) {
    if (left_out(name)) continue;
    const transcriber m = open(name);
    EXPECT_EQ(finals(listen(m, pcm)),
              "the train to paris leaves in seven minutes where did thomas leave the blue table")
        << name;
  }
}

TEST(any_session, turns_end_and_a_session_that_does_not_continue_is_over) {
  const transcriber m = open("parakeet-eou");
  const auto pcm = two_sentences();
  const auto turns = [](const std::vector<session_event>& events) {
    return std::count_if(events.begin(), events.end(),
                         [](const session_event& e) { return e.endpoint == endpoint_kind::end_of_turn; });
  };
  EXPECT_EQ(turns(listen(m, pcm)), 2);
  EXPECT_EQ(turns(listen(m, pcm, {.endpoints = false})), 0);
  for (const char* name : {"parakeet-eou", "u2", "parakeet-tdt", "demo"}) {
    const transcriber one = open(name);
    const auto first = listen(one, pcm, {.continuous = false});
    EXPECT_EQ(std::count_if(first.begin(), first.end(), [](const session_event& e) { return e.final(); }), 1) << name;
    EXPECT_NE(first.back().endpoint, endpoint_kind::none) << name;
    EXPECT_EQ(finals(first).find("table"), std::string::npos) << name;
  }
}

TEST(any_session, utterances_end_at_a_limit) {
  static_assert(streaming::utterance_limit({}, 60) == 60);
  static_assert(streaming::utterance_limit({.max_utterance_seconds = 90}, 60) == 90);
  static_assert(streaming::utterance_limit({.max_utterance_seconds = 90, .limit_seconds = 70}, 60) == 70);
  static_assert(streaming::utterance_limit({.limit_seconds = 70}, 60) == 60);
  static_assert(streaming::utterance_limit({.limit_seconds = 70}, 0) == 70);
  const auto pcm = two_sentences();
  for (const char* name : {"u2", "qwen3-asr", "paraformer_online", "demo", "whisper"}) {
    if (left_out(name)) continue;
    const transcriber m = open(name);
    std::optional<bool> endless;  // where there is something to switch off
    if (m.supports_live("endpoints")) endless = false;
    const auto longest = [&](const session_options& o) {
      double most = 0;
      for (const session_event& e : listen(m, pcm, o))
        if (e.final()) most = std::max(most, e.utterance.end - e.utterance.start);
      return most;
    };
    const double free = longest({.endpoints = endless});
    EXPECT_GT(free, 5) << name;
    EXPECT_LT(longest({.endpoints = endless, .max_utterance_seconds = 3}), 4) << name;
    EXPECT_LT(longest({.endpoints = endless, .max_utterance_seconds = 30, .limit_seconds = 3}), 4) << name;
  }
}

TEST(any_session, a_file_says_how_long_an_utterance_may_be_and_options_win) {
  const auto pcm = two_sentences();
  const auto longest = [&](double of_file, const session_options& o) {
    auto model = load<qwen3::qwen3_asr_any>((examples / "models/qwen3-asr.gguf").string());
    model.max_clip_seconds = of_file;
    const transcriber m = transcriber_of(std::move(model));
    double most = 0;
    for (const session_event& e : listen(m, pcm, o)) most = std::max(most, e.utterance.end - e.utterance.start);
    return most;
  };
  EXPECT_GT(longest(0, {}), 8);
  EXPECT_LE(longest(4, {}), 4);
  EXPECT_GT(longest(4, {.max_utterance_seconds = 60}), 8);
  EXPECT_LE(longest(60, {.max_utterance_seconds = 4}), 4);
}

TEST(any_session, hotwords_are_favoured_or_refused) {
  const auto pcm = two_sentences();
  const transcriber u2 = open("u2");
  EXPECT_EQ(finals(listen(u2, pcm, {.hotwords = {"blue table"}, .hotword_score = 1.0f})), finals(listen(u2, pcm)));
  context c;
  EXPECT_THROW(any_session(u2, {.hotwords = {"\xe2\x82\xac"}}, c), error);
  EXPECT_THROW(any_session(open("parakeet-eou"), {.chunk_size = 0}, c), error);
  const transcriber qwen = open("qwen3-asr");
  EXPECT_EQ(finals(listen(qwen, pcm, {.hotwords = {{"blue table", 2}}, .hotword_score = 1.0f})),
            finals(listen(qwen, pcm)));
}

// Of models that are greedy by themselves: portions make no difference, what is stable stays, and the words come.
TEST(any_session, a_beam_streams_too) {
  const auto pcm = two_sentences();
  for (const char* name : {"parakeet-ctc", "parakeet-tdt", "parakeet-eou", "paraformer-online"}) {
    const transcriber m = open(name);
    const session_options o{.beam = 4, .hotwords = {"train", "basement"}};
    std::vector<std::string> once, small;
    std::string stable;
    for (const session_event& e : listen(m, pcm, o)) {
      once.push_back(written(e));
      EXPECT_EQ(e.utterance.text.rfind(stable, 0), 0u) << name << ": " << stable;
      stable = e.final() ? "" : e.stable;
    }
    context c;
    any_session session(m, o, c);
    const auto keep = [&](const session_event& e) { small.push_back(written(e)); };
    for (std::size_t at = 0; at < pcm.size(); at += 999)
      session.push(std::span(pcm).subspan(at, std::min<std::size_t>(999, pcm.size() - at)), c, keep);
    session.finish(c, keep);
    EXPECT_EQ(once, small) << name;
    EXPECT_EQ(finals(listen(m, pcm, o)), finals(listen(m, pcm))) << name;
    EXPECT_NE(finals(listen(m, pcm, {.hotwords = {"umbrella"}, .hotword_score = 30.0f})), finals(listen(m, pcm)))
        << name;
  }
}

// The online Paraformer's: a weight is so many times the score, and a phrase of two words comes over two chunks.
TEST(any_session, an_online_paraformer_favours_phrases_as_its_recordings_do) {
  const auto pcm = two_sentences();
  const transcriber m = open("paraformer-online");
  context c;
  const std::string plain = finals(listen(m, pcm));
  for (const char* phrase : {"blue umbrella", "train to vienna", "seven basement"}) {
    const std::string heavy = finals(listen(m, pcm, {.hotwords = {{phrase, 20}}, .hotword_score = 1.0f}));
    EXPECT_EQ(heavy, finals(listen(m, pcm, {.hotwords = {phrase}, .hotword_score = 20.0f}))) << phrase;
    EXPECT_EQ(finals(listen(m, pcm, {.hotwords = {{phrase, 0.01f}}})), plain) << phrase;
    EXPECT_EQ(finals(listen(m, pcm, {.hotwords = {phrase}, .hotword_score = 0.01f})), plain) << phrase;
    const result r = m.transcribe(pcm, {.hotwords = {phrase}, .hotword_score = 20.0f}, c);
    EXPECT_EQ(r.text, finals(listen(m, pcm, {.endpoints = false, .hotwords = {phrase}, .hotword_score = 20.0f})))
        << phrase;
  }
  EXPECT_NE(finals(listen(m, pcm, {.hotwords = {"blue umbrella"}, .hotword_score = 20.0f})), plain);
}

// A language model of one word.
const models::language_model& small_lm() {
  static const models::language_model lm = [] {
    weights::gguf_writer w;
    w.set("general.architecture", std::string_view("ngram"));
    w.set("ngram.words", std::vector<std::string>{"<s>", "</s>", "paris"});
    w.set("ngram.nodes.word", std::vector<std::uint32_t>{0, 0, 1, 2});
    w.set("ngram.nodes.log_prob", std::vector<float>{0, -99, -2, -1});
    w.set("ngram.nodes.backoff", std::vector<float>{0, 0, 0, 0});
    w.set("ngram.nodes.first_child", std::vector<std::uint32_t>{1, 4, 4, 4, 4});
    const std::vector<std::byte> image = w.bytes();
    return models::language_model(gguf_file("lm", image));
  }();
  return lm;
}

// Each option that a model may have no use for, set.
session_options with(std::string_view option) {
  session_options o;
  if (option == "chunk_size") o.chunk_size = 8;
  if (option == "left_chunks") o.left_chunks = 4;
  if (option == "left_context") o.left_context = 40;
  if (option == "look_ahead") o.look_ahead = 4;
  if (option == "language") o.language = "en";
  if (option == "rescore") o.rescore = true;  // the default, but asked for
  if (option == "endpoints") o.endpoints = true;
  if (option == "forget_turns") o.forget_turns = true;
  if (option == "partial_seconds") o.partial_seconds = 1;
  if (option == "max_utterance_seconds") o.max_utterance_seconds = 20;
  if (option == "beam") o.beam = 4;
  if (option == "hotwords") o.hotwords = {"paris"};
  if (option == "hotword_score") o.hotword_score = 1.0f;
  if (option == "language_model") o.language_model = &small_lm();
  if (option == "lm_weight") o.lm_weight = 0.1f;
  return o;
}

template <class Make>
std::string refusal(Make&& make) {
  try {
    (void)make();
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(any_session, options_that_a_model_has_no_use_for_are_refused_by_name) {
  const std::pair<const char*, std::vector<std::string_view>> families[] = {
      {"u2",
       {"chunk_size", "left_chunks", "rescore", "endpoints", "max_utterance_seconds", "beam", "hotwords",
        "hotword_score", "language_model", "lm_weight"}},
      {"parakeet-ctc",
       {"chunk_size", "left_chunks", "left_context", "look_ahead", "endpoints", "max_utterance_seconds", "beam",
        "hotwords", "hotword_score", "language_model", "lm_weight"}},
      {"parakeet-tdt",
       {"chunk_size", "left_chunks", "left_context", "look_ahead", "endpoints", "max_utterance_seconds", "beam",
        "hotwords", "hotword_score", "language_model", "lm_weight"}},
      {"parakeet-eou",
       {"chunk_size", "endpoints", "forget_turns", "beam", "hotwords", "hotword_score", "language_model", "lm_weight"}},
      {"qwen3-asr", {"chunk_size", "max_utterance_seconds", "hotwords", "hotword_score"}},
      {"paraformer-online",
       {"chunk_size", "left_chunks", "endpoints", "max_utterance_seconds", "beam", "hotwords", "hotword_score"}},
      {"demo",
       {"language", "endpoints", "partial_seconds", "max_utterance_seconds", "beam", "hotwords", "hotword_score",
        "language_model", "lm_weight"}},
      {"paraformer", {"endpoints", "partial_seconds", "max_utterance_seconds", "beam", "hotwords", "hotword_score"}},
      {"seaco_paraformer", {"endpoints", "partial_seconds", "max_utterance_seconds", "hotwords"}},
      {"whisper",
       {"language", "endpoints", "partial_seconds", "max_utterance_seconds", "beam", "hotwords", "hotword_score"}}};
  context c;
  for (const auto& [name, honoured] : families) {
    const transcriber m = open(name);
    session_options().each([&, &honoured = honoured, &name = name](std::string_view option, bool set) {
      EXPECT_FALSE(set) << option;
      const session_options asked = with(option);
      EXPECT_EQ(asked.names(), std::vector<std::string_view>{option});
      const bool known = std::find(honoured.begin(), honoured.end(), option) != honoured.end();
      EXPECT_EQ(m.supports_live(option), known) << name << ' ' << option;
      const std::string why = refusal([&] { return any_session(m, asked, c); });
      if (known)
        EXPECT_EQ(why, "") << name << ' ' << option;
      else
        EXPECT_NE(why.find("option " + std::string(option)), std::string::npos) << name << ' ' << why;
    });
    EXPECT_TRUE(m.supports_live("continuous"));
    EXPECT_FALSE(m.supports_live("no such option"));
    EXPECT_EQ(refusal([&] { return any_session(m, {.continuous = false, .limit_seconds = 9, .beam = 1}, c); }), "");
  }
  // A session of a type refuses what any_session does.
  const auto model = load<qwen3::qwen3_asr_any>((examples / "models/qwen3-asr.gguf").string());
  EXPECT_NE(refusal([&] { return session(model, {.beam = 4}, c); }).find("option beam"), std::string::npos);
}

TEST(any_session, a_beam_of_one_is_greedy_and_none_is_the_models_own) {
  const auto pcm = two_sentences();
  const transcriber m = open("u2");
  const auto texts = [&](const session_options& o) {
    std::vector<std::string> all;
    for (const session_event& e : listen(m, pcm, o)) all.push_back(written(e));
    return all;
  };
  EXPECT_EQ(texts({}), texts({.beam = 10}));
  for (const session_event& e : listen(m, pcm, {.beam = 1})) EXPECT_EQ(e.nbest.size(), 1u);
}

// Utterances that are cut because they are long, and streams that are one utterance: what is stable stays.
TEST(any_session, what_is_stable_stays_where_long_utterances_are_cut) {
  std::vector<float> talk;  // half a minute without a pause
  for (const char* name : {"train.wav", "question.wav", "shopping.wav", "question.wav", "train.wav", "shopping.wav",
                           "train.wav", "shopping.wav", "question.wav", "train.wav"}) {
    const auto pcm = test::load_wav(examples / "audio" / name).pcm;
    talk.insert(talk.end(), pcm.begin(), pcm.end());
  }
  const any_vad energy = open_vad("energy");
  for (const char* name : test::first_on_emulators<const char*>(
           2, {"demo", "u2", "paraformer-online", "parakeet-eou", "parakeet-tdt", "parakeet-ctc", "qwen3-asr"}))
    for (const bool segments : {false, true}) {
      const transcriber m = open(name);
      if (!segments && !m.streams()) continue;
      for (const session_options& o :
           {session_options{}, session_options{.max_utterance_seconds = 4}, session_options{.endpoints = false},
            session_options{.endpoints = false, .max_utterance_seconds = 5}}) {
        const auto known = [&](std::string_view option) { return m.supports_live(option, segments); };
        const std::vector<std::string_view> set = o.names();
        if (!std::all_of(set.begin(), set.end(), known)) continue;
        SCOPED_TRACE(std::string(name) + (segments ? ", segments" : "") + (o.endpoints ? ", no endpoints" : "") +
                     ", limit " + std::to_string(o.max_utterance_seconds));
        context c;
        any_session s(m, o, c, {.vad = segments ? &energy : nullptr});
        std::string stable;
        std::size_t finals = 0, told = 0;
        const auto sink = [&](const session_event& e) {
          EXPECT_TRUE(e.utterance.text.starts_with(stable)) << stable << "\nbecame " << e.utterance.text;
          EXPECT_TRUE(e.utterance.text.starts_with(e.stable));
          stable = e.final() ? "" : e.stable;
          finals += e.final() && !e.utterance.text.empty();
          ++told;
        };
        for (std::size_t at = 0; at < talk.size(); at += 4000)
          s.push(std::span(talk).subspan(at, std::min<std::size_t>(4000, talk.size() - at)), c, sink);
        s.finish(c, sink);
        EXPECT_GT(told, finals);
        if (o.max_utterance_seconds > 0) {
          EXPECT_GT(finals, 3u);
        } else if (o.endpoints && !segments) {
          EXPECT_EQ(finals, 1u);
        }
      }
    }
}

// Chunks and what they look ahead: 16 rows of 40 ms and 6 frames, 600 and 300 ms, 2 rows of 80 ms, 2 and 2 s, 2 s.
TEST(any_session, how_late_words_of_the_models_own_streams_are) {
  for (const auto& [name, seconds] : std::vector<std::pair<const char*, double>>{{"demo", 0},
                                                                                 {"whisper", 0},
                                                                                 {"u2", 0.70},
                                                                                 {"paraformer-online", 0.9},
                                                                                 {"parakeet-eou", 0.16},
                                                                                 {"parakeet-tdt", 4},
                                                                                 {"parakeet-ctc", 4},
                                                                                 {"qwen3-asr", 2}})
    EXPECT_NEAR(open(name).stream_delay(), seconds, 1e-12) << name;
}

// By segments every family is heard: final results are those of the recording with the same detector.
TEST(any_session, by_segments_final_results_are_those_of_the_recording) {
  const auto pcm = two_sentences();
  EXPECT_FALSE(open("demo").streams());
  EXPECT_TRUE(open("u2").streams());
  const any_vad energy = open_vad("energy"), fsmn = open_vad((examples / "models/fsmn-vad.gguf").string());
  for (const char* name : {"demo", "paraformer", "whisper", "parakeet-ctc", "parakeet-tdt", "u2", "qwen3-asr"}) {
    if (left_out(name)) continue;
    const transcriber m = open(name);
    for (const any_vad* vad : {&energy, &fsmn}) {
      context c;
      transcribe_options o{.vad = vad};
      if (m.supports("word_timestamps")) o.merge_seconds = 0;  // Whisper: segments do not share windows
      const result want = m.transcribe(pcm, o, c);
      any_session s(m, {}, c, {.vad = vad});
      std::vector<segment> got;
      std::vector<double> first;
      double spoken = 0;
      const auto sink = [&](session_event e) {
        if (!e.final() && first.size() == got.size()) first.push_back(e.utterance.end - e.utterance.start);
        if (e.final() && !e.utterance.text.empty()) got.push_back(std::move(e.utterance));
      };
      s.push(pcm, c, sink);
      s.finish(c, sink);
      ASSERT_EQ(got.size(), want.segments.size()) << name;
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_EQ(got[i].text, want.segments[i].text) << name;
        EXPECT_EQ(got[i].token_ids, want.segments[i].token_ids) << name;
        EXPECT_EQ(got[i].start, want.segments[i].start) << name;
        EXPECT_EQ(got[i].end, want.segments[i].end) << name;
        EXPECT_EQ(got[i].score, want.segments[i].score) << name;
        ASSERT_EQ(got[i].words.size(), want.segments[i].words.size()) << name;
        for (std::size_t w = 0; w < got[i].words.size(); ++w)
          EXPECT_EQ(got[i].words[w].start, want.segments[i].words[w].start) << name;
        spoken += got[i].end - got[i].start;
      }
      EXPECT_EQ(first.size(), got.size()) << name;
      for (const double seconds : first) EXPECT_LE(seconds, 1.5) << name;
    }
  }
}

// A stream's partial results, another model's final ones.
TEST(any_session, two_passes) {
  const auto pcm = two_sentences();
  const transcriber first = open("u2"), last = open("demo");
  const std::vector<session_event> alone = listen(last, pcm);
  const auto pass = [&](std::size_t portion, const session_options& o) {
    context c;
    any_session s(first, o, c, {.final_model = &last});
    std::vector<session_event> all;
    const auto sink = [&](session_event e) { all.push_back(std::move(e)); };
    for (std::size_t at = 0; at < pcm.size(); at += portion)
      s.push(std::span(pcm).subspan(at, std::min(portion, pcm.size() - at)), c, sink);
    s.finish(c, sink);
    return all;
  };
  const auto events = pass(1600, {.chunk_size = 4});
  const auto again = pass(777, {.chunk_size = 4});
  ASSERT_EQ(events.size(), again.size());
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(written(events[i]), written(again[i]));
  const auto told = [](const std::vector<session_event>& all) {
    std::vector<std::string> texts;
    for (const session_event& e : all)
      if (e.final()) texts.push_back(written(e));
    return texts;
  };
  EXPECT_EQ(told(events), told(alone));
  EXPECT_GT(events.size(), 10u);
  for (const session_event& e : events) {
    EXPECT_EQ(e.stable, e.final() ? e.utterance.text : "");
  }
  EXPECT_NE(pass(1600, {.chunk_size = 16}).size(), events.size());
  EXPECT_EQ(finals(pass(1600, {.language = "en"})), finals(alone));  // the second one's
  context c;
  EXPECT_NE(refusal([&] {
              any_session(first, {.forget_turns = true}, c, {.final_model = &last});
            }).find("u2_conformer and sense_voice"),
            std::string::npos);
  EXPECT_NE(refusal([&] { any_session(last, {}, c, {.final_model = &first}); }).find("one that streams"),
            std::string::npos);
  EXPECT_TRUE(any_session::honours(first, "language", {.final_model = &last}));
  EXPECT_FALSE(any_session::honours(first, "partial_seconds", {.final_model = &last}));
}

// Portions that bring no result take no memory once everything has been gone through.
TEST(any_session, quiet_portions_allocate_nothing_once_warm) {
  const auto pcm = two_sentences();
  for (const char* name : {"u2", "paraformer_online", "parakeet-eou", "demo"}) {
    const transcriber m = open(name);
    context c;
    session_options o;
    if (m.supports_live("partial_seconds")) o.partial_seconds = 0;
    if (m.supports_live("left_chunks")) o.left_chunks = 4;
    if (m.supports_live("rescore")) o.rescore = false;
    any_session s(m, o, c);
    std::size_t told = 0, quiet = 0, allocated = 0;
    const auto sink = [&](const session_event&) { ++told; };
    for (int round = 0; round < 4; ++round)
      for (std::size_t at = 0; at < pcm.size(); at += 160) {
        const std::size_t before = told;
        const test::allocation_counter counted;
        s.push(std::span(pcm).subspan(at, std::min<std::size_t>(160, pcm.size() - at)), c, sink);
        if (round < 2 || told > before) continue;
        ++quiet;
        allocated += counted.so_far();
      }
    EXPECT_GT(quiet, 100u) << name;
    EXPECT_EQ(allocated, 0u) << name;
  }
}

TEST(any_session, threads_share_a_model) {
  const transcriber m = open("u2");
  const auto pcm = two_sentences();
  const std::string alone = finals(listen(m, pcm));
  std::vector<std::string> texts(4);
  std::vector<std::thread> threads;
  for (std::string& t : texts) threads.emplace_back([&] { t = finals(listen(m, pcm)); });
  for (std::thread& t : threads) t.join();
  for (const std::string& t : texts) EXPECT_EQ(t, alone);
}

// All of the events, with their speakers.
std::vector<std::string> attributed(const transcriber& t, const diarizer& d, const std::vector<float>& pcm,
                                    std::size_t portion, const pipelines::speaker_session_options& o,
                                    const executor& run = {}) {
  context c(run);
  any_session s(t, d, {}, o, c);
  std::vector<std::string> all;
  const auto take = [&](const session_event& e) {
    std::string line = written(e) + " <" + e.utterance.speaker.value_or("-") + ">";
    for (const word& w : e.utterance.words) line += " " + w.speaker.value_or("-");
    all.push_back(line);
  };
  for (std::size_t at = 0; at < pcm.size(); at += portion)
    s.push(std::span(pcm).subspan(at, std::min(portion, pcm.size() - at)), c, take);
  s.finish(c, take);
  EXPECT_TRUE(s.over());
  return all;
}
std::string final_texts(const transcriber& t, const diarizer* d, const std::vector<float>& pcm, bool split) {
  context c;
  any_session s = d == nullptr
                      ? any_session(t, {}, c)
                      : any_session(t, *d, {}, pipelines::speaker_session_options{.split_on_speaker = split}, c);
  std::string all;
  const auto take = [&](const session_event& e) {
    if (!e.final()) return;
    if (d != nullptr && !e.utterance.text.empty() && split) {
      for (const word& w : e.utterance.words) EXPECT_TRUE(!w.speaker || w.speaker == e.utterance.speaker);
    }
    EXPECT_TRUE(split || e.endpoint != endpoint_kind::speaker_change);
    pipelines::append_text(all, e.utterance.text);
  };
  s.push(pcm, c, take);
  s.finish(c, take);
  return all;
}

// A small random Sortformer: whom it finds is not the point.
TEST(any_session, speakers_do_not_depend_on_portions_and_threads) {
  const diarizer d((test::compact() / "sortformer" / "model.gguf").string());
  const std::vector<float> pcm = two_sentences();
  thread_pool pool(2);
  for (const char* name :
       test::first_on_emulators<const char*>(1, {"parakeet-eou", "parakeet-tdt", "u2", "qwen3-asr", "demo"})) {
    const transcriber t = open(name);
    for (const bool split : {false, true}) {
      const pipelines::speaker_session_options o{.split_on_speaker = split};
      const auto want = attributed(t, d, pcm, 16000, o);
      EXPECT_EQ(attributed(t, d, pcm, 1234, o), want) << name;
      EXPECT_EQ(attributed(t, d, pcm, pcm.size(), o, executor(pool)), want) << name;
      EXPECT_TRUE(std::any_of(want.begin(), want.end(), [](const std::string& e) {
        return e.find("<Speaker 1>") != std::string::npos;
      })) << name;
      EXPECT_EQ(final_texts(t, &d, pcm, split), final_texts(t, nullptr, pcm, split)) << name;
    }
  }
}

TEST(any_session, a_final_result_waits_for_its_speakers) {
  const diarizer d((test::compact() / "sortformer" / "model.gguf").string());
  const transcriber t = open("parakeet-eou");
  pipelines::speaker_session_options late, soon;
  late.diarization.cache = soon.diarization.cache = d.default_cache();
  late.diarization.cache->chunk_len = 200;  // 16 s: more than there are
  soon.diarization.cache->chunk_len = 2;
  soon.diarization.cache->chunk_right_context = 0;
  const std::vector<float> pcm = two_sentences();
  const auto finals_before_the_end = [&](const pipelines::speaker_session_options& o) {
    context c;
    any_session s(t, d, {}, o, c);
    int finals = 0;
    const auto take = [&](const session_event& e) { finals += e.final() ? 1 : 0; };
    s.push(pcm, c, take);
    return finals;
  };
  EXPECT_EQ(finals_before_the_end(late), 0);
  EXPECT_EQ(finals_before_the_end(soon), 2);
}

TEST(any_session, ends_of_turns_have_a_confidence) {
  const transcriber t = open("parakeet-eou");
  const std::vector<float> pcm = two_sentences();
  context c;
  any_session s(t, {}, c);
  int ends = 0;
  const auto take = [&](const session_event& e) {
    EXPECT_EQ(e.eot_confidence.has_value(), e.endpoint != endpoint_kind::none);
    if (!e.eot_confidence) return;
    ++ends;
    EXPECT_GT(*e.eot_confidence, 0.3);
    EXPECT_LE(*e.eot_confidence, 1);
  };
  s.push(pcm, c, take);
  s.finish(c, take);
  EXPECT_EQ(ends, 2);
}

}  // namespace any_session_test

// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <steno/streaming/session.hpp>

#include <algorithm>
#include <thread>

#include <gtest/gtest.h>

namespace options_test {

using steno::app::nearest;
using steno::app::options;
using steno::app::parse_options;
using steno::app::stop;

stop refused(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const stop& s) {
    return s;
  }
  return {-1, "accepted"};
}

TEST(options, transcribe_is_the_default_verb) {
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"a.wav", "b.wav"}, {"transcribe", "a.wav", "b.wav"}}) {
    const options o = parse_options(arguments);
    EXPECT_EQ(o.verb, "transcribe");
    EXPECT_EQ(o.audio, (std::vector<std::string>{"a.wav", "b.wav"}));
    EXPECT_EQ(output_format(o), steno::app::format::text);
    EXPECT_EQ(o.language, "auto");
    EXPECT_EQ(o.beam, 0);
    EXPECT_TRUE(o.progress);
  }
}

TEST(options, all_of_transcribe) {
  const options o = parse_options({"-m",           "m.gguf",     "--format=srt", "-o",        "out/",
                                   "--language",   "en",         "--itn",        "--threads", "3",
                                   "--beam",       "4",          "--vad",        "energy",    "--hotwords",
                                   "w.txt",        "--manifest", "l.jsonl",      "--shard",   "1/3",
                                   "--pcm-format", "f32le",      "--pcm-rate",   "8000",      "--no-progress",
                                   "-q",           "-"});
  EXPECT_EQ(o.model, "m.gguf");
  EXPECT_EQ(output_format(o), steno::app::format::srt);
  EXPECT_EQ(o.output, "out/");
  EXPECT_EQ(o.language, "en");
  EXPECT_EQ(o.inverse_text_normalisation, true);
  EXPECT_EQ(o.threads, std::min(3, static_cast<int>(std::max(1u, std::thread::hardware_concurrency()))));
  EXPECT_EQ(o.beam, 4);
  EXPECT_EQ(o.vad, "energy");
  EXPECT_EQ(o.hotwords, "w.txt");
  EXPECT_EQ(o.manifest, "l.jsonl");
  EXPECT_EQ(o.part.index, 1u);
  EXPECT_EQ(o.part.count, 3u);
  EXPECT_EQ(o.reading.pcm.encoding, steno::app::pcm_encoding::f32le);
  EXPECT_EQ(o.reading.pcm.rate, 8000);
  EXPECT_FALSE(o.progress);
  EXPECT_TRUE(o.quiet);
  EXPECT_EQ(o.audio, std::vector<std::string>{"-"});
}

TEST(options, options_may_follow_files_and_the_last_one_wins) {
  const options o = parse_options({"a.wav", "--threads", "2", "b.wav", "--threads", "1", "--", "-odd.wav"});
  EXPECT_EQ(o.threads, 1);
  EXPECT_EQ(o.audio, (std::vector<std::string>{"a.wav", "b.wav", "-odd.wav"}));
}

TEST(options, info_and_bench) {
  EXPECT_EQ(parse_options({"info", "m.gguf"}).model, "m.gguf");
  EXPECT_EQ(output_format(parse_options({"info", "-m", "m.gguf", "--format", "json"})), steno::app::format::json);
  const options o = parse_options({"bench", "-m", "m.gguf", "--runs", "5", "a.wav"});
  EXPECT_EQ(o.runs, 5);
  EXPECT_EQ(o.audio, std::vector<std::string>{"a.wav"});
}

TEST(options, vad) {
  options o = parse_options({"vad", "a.wav"});
  EXPECT_EQ(o.verb, "vad");
  EXPECT_EQ(o.vad, "energy");
  EXPECT_EQ(o.speech.output_format, steno::app::speech_format::text);
  EXPECT_FALSE(o.detector.min_silence || o.detector.max_segment || o.detector.threshold);
  o = parse_options({"vad", "--vad", "m.gguf", "--format", "rttm", "-o", "out/", "--min-silence", "800",
                     "--max-segment", "1.5", "--threshold", "-0.25", "--shard", "1/3", "a.wav", "b.wav"});
  EXPECT_EQ(o.vad, "m.gguf");
  EXPECT_EQ(o.output, "out/");
  EXPECT_EQ(o.speech.output_format, steno::app::speech_format::rttm);
  EXPECT_EQ(o.detector.min_silence, 800);
  EXPECT_EQ(o.detector.max_segment, 1500);
  EXPECT_EQ(o.detector.threshold, -0.25);
  EXPECT_EQ(o.part.index, 1u);
  EXPECT_EQ(o.audio, (std::vector<std::string>{"a.wav", "b.wav"}));
  EXPECT_EQ(parse_options({"vad", "-m", "m.gguf", "a.wav"}).vad, "m.gguf");
}

TEST(options, wrong_usage_is_one_line_with_a_hint_and_code_2) {
  const struct {
    std::vector<std::string> arguments;
    const char* part;
  } cases[] = {
      {{"--formt", "json", "a.wav"}, "unknown option --formt (did you mean --format?)"},
      {{"--zzzzzzzz", "a.wav"}, "unknown option --zzzzzzzz;"},
      {{"a.wav", "-x"}, "unknown option -x"},
      {{"transcribe"}, "no AUDIO given"},
      {{"--itn"}, "no AUDIO given"},
      {{"transcibe", "a.wav"}, "transcibe is neither a verb nor a file (did you mean transcribe?)"},
      {{"frobnicate", "a.wav"}, "frobnicate is neither a verb nor a file (verbs: transcribe, "},
      {{"a.wav", "--format", "doc"}, "unknown format doc"},
      {{"a.wav", "--threads", "0"}, "--threads"},
      {{"a.wav", "--threads", "many"}, "--threads"},
      {{"a.wav", "--beam", "-1"}, "--beam"},
      {{"a.wav", "-m"}, "--model"},
      {{"a.wav", "--shard", "4/3"}, "--shard 4/3"},
      {{"-", "-"}, "only once"},
      {{"-", "--pcm-format", "u8"}, "unknown PCM format u8"},
      {{"-", "--pcm-rate", "1"}, "--pcm-rate"},
      {{"a.wav", "--pcm-rate", "8000"}, "no AUDIO is -"},
      {{"stream", "a.wav"}, "--model is required"},
      {{"diarize", "a.wav"}, "--model is required"},
      {{"diarize", "-m", "x", "a.wav", "--format", "srt"}, "unknown format srt (diarize writes"},
      {{"diarize", "-m", "x", "a.wav", "--onset", "2"}, "--onset"},
      {{"diarize", "-m", "x"}, "no AUDIO given"},
      {{"vad"}, "no AUDIO given"},
      {{"vad", "a.wav", "--format", "srt"}, "unknown format srt (vad writes"},
      {{"vad", "a.wav", "--max-segment", "0"}, "--max-segment"},
      {{"vad", "a.wav", "--threshold", "1x"}, "--threshold 1x"},
      {{"vad", "a.wav", "--threshold", ""}, "--threshold"},
      {{"align", "a.wav"}, "--model is required"},
      {{"serve", "--port", "1"}, "--model is required"},
      {{"info", "--format", "srt"}, "text or json"},
      {{"info", "a.gguf", "b.gguf", "c.gguf"}, ""},
      {{"a.wav", "--demo", "none"}, "no demonstration model none (there are "},
      {{"a.wav", "--demo", "none"}, "sense-voice"},
      {{"a.wav", "--demo", "sense-voice", "-m", "b.gguf"}, "--demo"},
  };
  for (const auto& c : cases) {
    const stop s = refused(c.arguments);
    EXPECT_EQ(s.code, 2) << c.part;
    EXPECT_NE(s.text.find(c.part), std::string::npos) << s.text << " lacks " << c.part;
    EXPECT_EQ(s.text.find('\n'), s.text.size() - 1) << s.text;
  }
  EXPECT_EQ(refused({}).code, 2);
}

TEST(options, the_verb_may_stand_behind_options) {
  const options o = parse_options({"-q", "stream", "-m", "x.gguf", "x.wav"});
  EXPECT_EQ(o.verb, "stream");
  EXPECT_TRUE(o.quiet);
  EXPECT_EQ(o.audio, std::vector<std::string>{"x.wav"});
  EXPECT_EQ(parse_options({"-m", "x.gguf", "--threads", "1", "diarize", "x.wav"}).verb, "diarize");
  EXPECT_EQ(parse_options({"--format=rttm", "vad", "x.wav"}).verb, "vad");
  EXPECT_EQ(parse_options({"-q", "transcribe", "x.wav"}).audio, std::vector<std::string>{"x.wav"});
  // A value is no verb, and neither is what stands behind "--" or behind a file.
  EXPECT_EQ(parse_options({"--language", "stream", "x.wav"}).language, "stream");
  EXPECT_EQ(parse_options({"-q", "--", "stream"}).audio, std::vector<std::string>{"stream"});
  EXPECT_EQ(parse_options({"a.wav", "stream"}).verb, "transcribe");
  EXPECT_NE(refused({"-q", "strem", "x.wav"}).text.find("did you mean stream?"), std::string::npos);
}

// serve says itself what it can do with how many: tests/programs/steno_serve_test.cpp.
TEST(options, threads_are_no_more_than_processors) {
  const int processors = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  for (const char* verb : {"transcribe", "stream", "align", "bench", "diarize"}) {
    std::vector<std::string> all = {verb, "--threads", "999", "-m", "x"};
    all.emplace_back("x.wav");
    if (all[0] == "align") all.insert(all.end(), {"--text", "x.txt"});
    const options o = parse_options(all);
    EXPECT_EQ(o.threads, std::min(processors, 999)) << verb;
    EXPECT_EQ(o.notes.size(), processors < 999 ? 1u : 0u);
    EXPECT_EQ(parse_options({"x.wav", "--threads", "1"}).threads, 1);
  }
}

TEST(options, what_is_empty_is_refused) {
  for (const std::vector<std::string>& all : {std::vector<std::string>{"-m", "", "x.wav"},
                                              {"info", ""},
                                              {"--model=", "x.wav"},
                                              {""},
                                              {"stream", "-m", "", "x.wav"},
                                              {"-o", "", "x.wav"}}) {
    const stop s = refused(all);
    EXPECT_EQ(s.code, 2);
    EXPECT_NE(s.text.find("is empty"), std::string::npos) << s.text;
  }
}

TEST(options, channels_of_raw_samples) {
  EXPECT_EQ(parse_options({"-", "--pcm-channels", "2"}).reading.pcm.channels, 2);
  EXPECT_EQ(parse_options({"stream", "-m", "x", "-", "--pcm-channels", "6"}).reading.pcm.channels, 6);
  EXPECT_NE(refused({"a.wav", "--pcm-channels", "2"}).text.find("no AUDIO is -"), std::string::npos);
  EXPECT_EQ(refused({"-", "--pcm-channels", "0"}).code, 2);
}

TEST(options, itn_is_the_models_own_unless_it_is_given) {
  EXPECT_EQ(parse_options({"a.wav"}).inverse_text_normalisation, std::nullopt);
  EXPECT_EQ(parse_options({"--itn", "a.wav"}).inverse_text_normalisation, true);
  const options without = parse_options({"--no-itn", "a.wav"});
  EXPECT_EQ(without.inverse_text_normalisation, false);
  EXPECT_EQ(steno::app::given_options(without),
            (std::vector<std::pair<std::string, std::string>>{{"--itn", "--no-itn"}}));
}

TEST(options, help_and_version_are_no_errors) {
  EXPECT_EQ(refused({"--version"}).code, 0);
  EXPECT_EQ(refused({"--version"}).text.rfind("steno 0.", 0), 0u);
  for (const char* verb : {"transcribe", "vad", "info", "bench"}) {
    const stop s = refused({verb, "--help"});
    EXPECT_EQ(s.code, 0);
    EXPECT_NE(s.text.find("Example"), std::string::npos);
  }
  const std::string help = refused({"--help"}).text;
  for (const char* option :
       {"--model", "--format", "--output", "--language", "--itn", "--threads", "--beam", "--vad", "--hotwords",
        "--manifest", "--shard", "--pcm-format", "--pcm-rate", "--no-progress", "--quiet", "--version"})
    EXPECT_NE(help.find(option), std::string::npos) << option;
}

TEST(options, itn_or_not_or_as_the_model_does) {
  EXPECT_EQ(parse_options({"a.wav"}).inverse_text_normalisation, std::nullopt);
  EXPECT_EQ(parse_options({"--no-itn", "a.wav"}).inverse_text_normalisation, false);
}

TEST(options, names_of_before_work_with_a_note) {
  using notes = std::vector<std::string>;
  options o = parse_options({"--longest", "20", "--clips=2", "--merge", "15", "--vad", "energy", "a.wav"});
  EXPECT_EQ(o.max_clip_seconds, 20);
  EXPECT_EQ(o.parallel_clips, 2);
  EXPECT_EQ(o.merge_seconds, 15);
  EXPECT_EQ(o.notes, (notes{"note: --longest is now --max-clip-seconds", "note: --clips is now --parallel-clips",
                            "note: --merge is now --merge-seconds"}));
  // Of a verb behind them, too; and once, however often.
  o = parse_options({"--longest", "20", "stream", "-m", "m.gguf", "--no-rescoring", "--longest=30", "a.wav"});
  EXPECT_EQ(o.live.max_utterance_seconds, 30);
  EXPECT_FALSE(o.live.rescore);
  EXPECT_EQ(o.max_clip_seconds, 0);
  EXPECT_EQ(o.notes, (notes{"note: --longest is now --max-utterance-seconds",
                            "note: --no-rescoring is now "
                            "--no-rescore"}));
  o = parse_options({"a.wav", "--max-clip-seconds", "20", "--", "--clips"});
  EXPECT_EQ(o.audio, (std::vector<std::string>{"a.wav", "--clips"}));
  EXPECT_EQ(o.notes, notes{});
  for (const char* verb : {"transcribe", "stream", "serve"}) {
    const std::string help = refused({verb, "--help"}).text;
    for (const char* before : {"--longest", "--clips", "--merge ", "--no-rescoring"})
      EXPECT_EQ(help.find(before), std::string::npos) << verb << ' ' << before;
  }
  EXPECT_NE(refused({"vad", "a.wav", "--clips", "2"}).text.find("unknown option --clips"), std::string::npos);
}

// What the library has a name for has that one.
TEST(options, settings_are_called_as_in_the_library) {
  const std::string live = refused({"stream", "--help"}).text, offline = refused({"transcribe", "--help"}).text;
  steno::session_options().each([&](std::string_view name, bool) {
    EXPECT_NE(live.find(steno::app::live_option_name(name)), std::string::npos) << name;
  });
  const steno::decoding_options none;
  steno::decoding_options::each(none, [&](std::string_view name, const auto&) {
    EXPECT_NE(offline.find(steno::app::option_name(name)), std::string::npos) << name;
  });
  for (const char* name : {"language", "itn", "max_clip_seconds", "merge_seconds", "parallel_clips", "beam", "hotwords",
                           "hotword_score", "language_model", "lm_weight"})
    EXPECT_NE(offline.find(steno::app::option_name(name)), std::string::npos) << name;
}

TEST(options, nearest_name) {
  EXPECT_EQ(nearest("fromat", {"format", "beam"}), "format");
  EXPECT_EQ(nearest("xyz", {"format", "beam"}), "");
}

TEST(options, language_models_have_their_own) {
  const options o =
      parse_options({"transcribe", "a.wav", "--temperature", "0.7", "--top-k", "40", "--top-p", "0.9",
                     "--max-new-tokens", "99", "--max-repeats", "0", "--kv-cache", "q8_0", "--seed", "3"});
  EXPECT_EQ(o.decoding.temperature, std::vector<double>({0.7}));
  EXPECT_EQ(o.decoding.top_k, 40);
  EXPECT_EQ(o.decoding.top_p, 0.9);
  EXPECT_EQ(o.decoding.max_new_tokens, 99);
  EXPECT_EQ(o.decoding.max_repeats, 0);
  EXPECT_EQ(o.decoding.kv_cache, steno::dtype::q8_0);
  EXPECT_EQ(o.decoding.seed, 3u);
  EXPECT_EQ(parse_options({"a.wav"}).decoding.names(), std::vector<std::string>());
  for (const char* bad : {"--kv-cache=q4_0", "--top-p=1.5", "--top-k=-1", "--max-new-tokens=0"})
    EXPECT_THROW(parse_options({"a.wav", bad}), stop) << bad;
}

}  // namespace options_test

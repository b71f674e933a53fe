// openai-whisper's writers: the original's own files byte for byte from its segments, and what they do not show.
// SPDX-License-Identifier: Apache-2.0
#include "openai_writer.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/golden.hpp"
#include "writers.hpp"

namespace openai_writer_test {

using nlohmann::json;
using steno::app::format;
using steno::app::layout;
using steno::app::line_options;
using steno::app::style;
using steno::app::writer;

std::string contents(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

// A segment of the original's as the recogniser tells it.
steno::segment segment_of(const json& j) {
  steno::segment s;
  s.start = j["start"];
  s.end = j["end"];
  const std::string text = j["text"];
  s.text = text.starts_with(' ') ? text.substr(1) : text;
  s.extra.emplace_back("raw_text", text);
  s.extra.emplace_back("seek", j["seek"].get<double>());
  for (const char* key : {"temperature", "avg_logprob", "compression_ratio", "no_speech_prob"})
    s.extra.emplace_back(key, j[key].get<double>());
  s.token_ids = j["tokens"].get<std::vector<int>>();
  if (!j.contains("words")) return s;
  for (const json& w : j["words"]) {
    const std::string word = w["word"];
    const std::size_t lead = word.starts_with(' ') ? 1 : 0;
    s.words.push_back({.text = word.substr(lead),
                       .start = w["start"],
                       .end = w["end"],
                       .confidence = w["probability"],
                       .how = steno::timing::native,
                       .space = word.substr(0, lead)});
  }
  return s;
}

std::string written(format f, const json& transcription, const line_options& lines = {}, bool words = false) {
  writer w(f, false, {.style = style::openai, .lines = lines, .words = words});
  steno::result r;
  r.language = transcription["language"];
  for (const json& s : transcription["segments"]) r.segments.push_back(segment_of(s));
  return w.add("input.wav", r);
}

steno::segment timed(std::initializer_list<steno::word> words) {
  steno::segment s;
  s.words = words;
  s.start = s.words.front().start;
  s.end = s.words.back().end;
  return s;
}
steno::word word(const char* text, double start, double end) {
  return {.text = text, .start = start, .end = end, .how = steno::timing::native, .space = " "};
}

std::string lines(const line_options& o, const std::vector<steno::segment>& segments) {
  writer w(format::vtt, false, {.style = style::openai, .lines = o, .words = true});
  w.begin("a.wav");
  std::string out;
  for (const steno::segment& s : segments) out += w.add(s);
  return out + w.end({});
}

TEST(openai_writer, the_original_s_files) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"multi", "en", "v3"}) {
    SCOPED_TRACE(name);
    const auto folder = shared / "golden/whisper" / name;
    std::ifstream in(folder / "expected.json");
    const json all = json::parse(in)["transcribe"];
    const json &plain = all["default_t0"], &words = all["word_timestamps"];
    const auto golden = [&](const char* file) { return contents(folder / "writers" / file); };
    EXPECT_EQ(written(format::text, plain), golden("plain.txt"));
    EXPECT_EQ(written(format::srt, plain), golden("plain.srt"));
    EXPECT_EQ(written(format::vtt, plain), golden("plain.vtt"));
    EXPECT_EQ(written(format::tsv, plain), golden("plain.tsv"));
    const line_options two{.max_line_width = 30, .max_line_count = 2};
    EXPECT_EQ(written(format::srt, words, two, true), golden("words.srt"));
    EXPECT_EQ(written(format::vtt, words, two, true), golden("words.vtt"));
    const line_options underlined{.highlight_words = true};
    EXPECT_EQ(written(format::srt, words, underlined, true), golden("highlight.srt"));
    EXPECT_EQ(written(format::vtt, words, underlined, true), golden("highlight.vtt"));
  }
}

TEST(openai_writer, words_fill_lines_and_cues) {
  const std::vector<steno::segment> two = {timed({word("one", 0, 1), word("two", 1, 2), word("three", 2, 3)}),
                                           timed({word("four", 3, 4), word("five", 8, 9)})};
  // Without limits a cue for each segment.
  EXPECT_EQ(lines({}, two),
            "WEBVTT\n\n00:00.000 --> 00:03.000\none two three\n\n00:03.000 --> 00:09.000\nfour five\n\n");
  // A width alone breaks lines; width and count break cues, also after more than three seconds.
  EXPECT_EQ(lines({.max_line_width = 8}, two),
            "WEBVTT\n\n00:00.000 --> 00:03.000\none two\nthree\n\n00:03.000 --> 00:09.000\nfour\nfive\n\n");
  EXPECT_EQ(lines({.max_line_width = 9, .max_line_count = 2}, two),
            "WEBVTT\n\n00:00.000 --> 00:03.000\none two\nthree\n\n00:03.000 --> 00:04.000\nfour\n\n"
            "00:08.000 --> 00:09.000\nfive\n\n");
  EXPECT_EQ(lines({.max_words_per_line = 2}, two),
            "WEBVTT\n\n00:00.000 --> 00:02.000\none two\n\n00:02.000 --> 00:03.000\nthree\n\n"
            "00:03.000 --> 00:09.000\nfour five\n\n");
}

TEST(openai_writer, json_has_the_original_s_names_and_spaces) {
  const json one = json::parse(R"({"language": "de", "segments": [
    {"seek": 0, "start": 0.5, "end": 31.0, "text": " gr\u00fc\u00df \"x\"", "tokens": [1, 2], "temperature": 0.0,
     "avg_logprob": -0.25, "compression_ratio": 1.5, "no_speech_prob": 1e-05,
     "words": [{"word": " gr\u00fc\u00df", "start": 0.5, "end": 1.0, "probability": 0.5}]}]})");
  EXPECT_EQ(written(format::json, one, {}, true),
            R"({"text": " gr\u00fc\u00df \"x\"", "segments": [{"id": 0, "seek": 0, "start": 0.5, "end": 31.0, )"
            R"("text": " gr\u00fc\u00df \"x\"", "tokens": [1, 2], "temperature": 0.0, "avg_logprob": -0.25, )"
            R"("compression_ratio": 1.5, "no_speech_prob": 1e-05, "words": [{"word": " gr\u00fc\u00df", )"
            R"("start": 0.5, "end": 1.0, "probability": 0.5}]}], "language": "de"})");
}

// What other families write: spaces are the text's, tags are not shown, and nothing is invented.
TEST(openai_writer, models_other_than_whisper) {
  steno::segment s = timed({word("the", 0, 1), word("train", 1, 2), word("to", 2, 3), word("Paris", 3, 4)});
  for (steno::word& w : s.words) w.space.clear();
  s.words[1].confidence = std::numeric_limits<float>::quiet_NaN();
  s.words[3].how = steno::timing::none;
  s.text = "The train to, Paris.";
  s.words[0].text = "The";
  s.extra.emplace_back("raw_text", "<|en|><|NEUTRAL|>The train to, Paris.");
  steno::segment wide = timed({word("\u4f60", 5, 6), word("\u597d", 6, 7)});
  for (steno::word& w : wide.words) w.space.clear();
  wide.text = "\u4f60\u597d\u3002";
  writer w(format::json, false, {.style = style::openai, .words = true});
  steno::result r;
  r.segments = {s, wide};
  const json all = json::parse(w.add("a.wav", r));
  const json& first = all["segments"][0];
  EXPECT_EQ(first["text"], " The train to, Paris.");
  for (const char* key : {"seek", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"})
    EXPECT_TRUE(first.at(key).is_null()) << key;
  const char* const words[] = {" The", " train", " to,", " Paris."};
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(first["words"][i]["word"], words[i]);
  EXPECT_TRUE(first["words"][1]["probability"].is_null());
  EXPECT_TRUE(first["words"][3]["start"].is_null());
  EXPECT_EQ(all["segments"][1]["text"], "\u4f60\u597d\u3002");
  EXPECT_EQ(all["segments"][1]["words"][1]["word"], "\u597d\u3002");
  EXPECT_EQ(lines({.max_line_width = 80}, {s}), "WEBVTT\n\n00:00.000 --> 00:04.000\nThe train to, Paris.\n\n");
  for (steno::word& v : s.words) v.how = steno::timing::native;
  EXPECT_EQ(lines({.max_words_per_line = 2}, {s}),
            "WEBVTT\n\n00:00.000 --> 00:02.000\nThe train\n\n00:02.000 --> 00:04.000\nto, Paris.\n\n");
}

// A segment whose words were all cleared has a list of none, as the original writes it.
TEST(openai_writer, a_segment_without_words_says_so) {
  steno::segment s;
  s.end = 1;
  writer w(format::json, false, {.style = style::openai, .words = true});
  steno::result r;
  r.segments = {s};
  EXPECT_EQ(json::parse(w.add("a.wav", r))["segments"][0].at("words"), json::array());
}

TEST(openai_writer, odd_texts) {
  const auto srt = [](const char* text) {
    writer w(format::srt, false, {.style = style::openai});
    steno::segment s;
    s.end = 3723.4;
    s.text = text;
    w.begin("a.wav");
    const std::string out = w.add(s);
    return out + w.end({});
  };
  EXPECT_EQ(srt("a --> b"), "1\n00:00:00,000 --> 01:02:03,400\na -> b\n\n");
  EXPECT_EQ(srt(""), "1\n00:00:00,000 --> 01:02:03,400\n\n\n");  // as the original does it
}

}  // namespace openai_writer_test

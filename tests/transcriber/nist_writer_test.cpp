// SPDX-License-Identifier: Apache-2.0
#include "nist_writer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "results.hpp"
#include "writers.hpp"

namespace nist_writer_test {

using steno::segment;
using steno::app::ctm_lines;
using steno::app::format;
using steno::app::layout;
using steno::app::nist_field;
using steno::app::rttm_line;
using steno::app::stm_line;
using steno::app::writer;
using steno::test::timed_word;

// Two turns, and a word of nobody in the second.
steno::result talk() {
  segment a, b;
  a.start = 0;
  a.end = 1.5;
  a.text = "Are you < there?";
  a.speaker = "Ann & Bob";
  a.words = {timed_word("Are", 0.25, 0.5), timed_word("you", 0.5, 0.75), timed_word("there", 0.75, 1.25)};
  for (steno::word& w : a.words) w.speaker = a.speaker;
  b.start = 1.5;
  b.end = 3;
  b.text = "Yes.";
  b.speaker = "Speaker 2";
  b.words = {timed_word("Yes", 2, 2.5)};
  steno::result r;
  r.model = "toy";
  r.duration = 3;
  r.language = "en";
  r.segments = {a, b};
  return r;
}
std::string once(format f, const steno::result& r, bool openai = false) {
  const layout l{.style = openai ? steno::app::style::openai : steno::app::style::steno, .speakers = true};
  return writer(f, false, l).add("a.wav", r);
}

TEST(nist_writer, fields) {
  EXPECT_EQ(nist_field("my talk.v2"), "my_talk.v2");
  EXPECT_EQ(nist_field("a\tb"), "a_b");
  EXPECT_EQ(nist_field("J\xc3\xbcrgen"), "J\xc3\xbcrgen");
  EXPECT_EQ(nist_field(""), "<NA>");
}

TEST(nist_writer, lines) {
  const steno::result r = talk();
  EXPECT_EQ(rttm_line("a b", r.segments[0]), "SPEAKER a_b 1 0.250 1.000 <NA> <NA> Ann_&_Bob <NA> <NA>\n");
  EXPECT_EQ(ctm_lines("a", r.segments[1], false), "a 1 2.000 0.500 Yes 0.500\n");
  EXPECT_EQ(ctm_lines("a", r.segments[0], true),
            "a 1 0.250 0.250 Are 0.500 lex Ann_&_Bob\na 1 0.500 0.250 you 0.500 lex Ann_&_Bob\n"
            "a 1 0.750 0.500 there 0.500 lex Ann_&_Bob\n");
  EXPECT_EQ(ctm_lines("a", r.segments[1], true), "a 1 2.000 0.500 Yes 0.500 lex unknown\n");
  EXPECT_EQ(stm_line("a", r.segments[0]), "a 1 Ann_&_Bob 0.250 1.250 Are you < there?\n");
}

TEST(nist_writer, what_is_not_known) {
  segment s;
  s.start = 1;
  s.end = 2;
  EXPECT_EQ(rttm_line("a", s), "");
  EXPECT_EQ(stm_line("a", s), "");
  EXPECT_EQ(ctm_lines("a", s, false), "");
  s.text = "some text";
  EXPECT_EQ(rttm_line("a", s), "");
  EXPECT_EQ(stm_line("a", s), "a 1 unknown 1.000 2.000 some text\n");
  EXPECT_EQ(ctm_lines("a", s, true), ";; a 1.000 2.000 words without times: some text\n");
  s.words = {timed_word("some", 1, 1.5)};
  s.words[0].how = steno::timing::aligned;
  EXPECT_EQ(ctm_lines("a", s, false), "a 1 1.000 0.500 some NA\n");
  s.speaker = "x";
  s.words.clear();
  EXPECT_EQ(rttm_line("a", s), "SPEAKER a 1 1.000 1.000 <NA> <NA> x <NA> <NA>\n");
  s.end = s.start;
  EXPECT_EQ(rttm_line("a", s), "");
}

TEST(writers, speakers_in_every_format) {
  const steno::result r = talk();
  EXPECT_EQ(once(format::text, r), "Ann & Bob: Are you < there?\nSpeaker 2: Yes.\n");
  EXPECT_EQ(once(format::tsv, r),
            "start\tend\tspeaker\ttext\n0\t1500\tAnn & Bob\tAre you < there?\n1500\t3000\tSpeaker 2\tYes.\n");
  EXPECT_EQ(once(format::srt, r),
            "1\n00:00:00,250 --> 00:00:01,750\nAnn & Bob: Are you < there?\n\n"
            "2\n00:00:02,000 --> 00:00:03,000\nSpeaker 2: Yes.\n\n");
  EXPECT_EQ(once(format::vtt, r),
            "WEBVTT\n\n00:00:00.250 --> 00:00:01.750\n<v Ann &amp; Bob>Are you &lt; there?\n\n"
            "00:00:02.000 --> 00:00:03.000\n<v Speaker 2>Yes.\n\n");
  EXPECT_EQ(once(format::rttm, r),
            "SPEAKER a.wav 1 0.250 1.000 <NA> <NA> Ann_&_Bob <NA> <NA>\n"
            "SPEAKER a.wav 1 2.000 0.500 <NA> <NA> Speaker_2 <NA> <NA>\n");
  const std::string json = once(format::json, r);
  EXPECT_NE(json.find(R"("timing":"native","speaker":"Ann & Bob"})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("timing":"native","speaker":null})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("text":"Are you < there? Yes.")"), std::string::npos) << json;
}

TEST(writers, a_turn_is_a_line) {
  steno::result r = talk();
  r.segments.insert(r.segments.begin() + 1, r.segments[0]);
  segment nobody = r.segments[0];
  nobody.speaker.reset();
  nobody.text = "Hm.";
  r.segments.push_back(nobody);
  r.segments.push_back(r.segments[0]);
  EXPECT_EQ(once(format::text, r),
            "Ann & Bob: Are you < there? Are you < there?\nSpeaker 2: Yes.\nHm.\nAnn & Bob: Are you < there?\n");
  writer two(format::text, true, {.speakers = true});
  const std::string first = two.add("a.wav", talk());
  EXPECT_EQ(first + two.add("b.wav", talk()),
            "Ann & Bob: Are you < there?\nSpeaker 2: Yes.\n\nAnn & Bob: Are you < there?\nSpeaker 2: Yes.\n");
}

TEST(writers, speakers_in_openai_s_style) {
  const steno::result r = talk();
  EXPECT_EQ(once(format::text, r, true), "Ann & Bob: Are you < there?\nSpeaker 2: Yes.\n");
  EXPECT_EQ(once(format::srt, r, true),
            "1\n00:00:00,000 --> 00:00:01,500\nAnn & Bob: Are you < there?\n\n"
            "2\n00:00:01,500 --> 00:00:03,000\nSpeaker 2: Yes.\n\n");
  const layout words{.style = steno::app::style::openai, .words = true, .speakers = true};
  EXPECT_EQ(writer(format::vtt, false, words).add("a.wav", r),
            "WEBVTT\n\n00:00.250 --> 00:01.250\n<v Ann &amp; Bob>Are you < there?\n\n"
            "00:02.000 --> 00:02.500\n<v Speaker 2>Yes.\n\n");
  const std::string json = writer(format::json, false, words).add("a.wav", r);
  EXPECT_NE(json.find(R"("probability": 0.5, "speaker": "Ann & Bob"})"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("speaker": "Speaker 2"})"), std::string::npos) << json;
  EXPECT_EQ(once(format::ctm, r, true), once(format::ctm, r));
}

}  // namespace nist_writer_test

#include "writers.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "results.hpp"

namespace {
using steno::app::clock_text;
using steno::app::format;
using steno::app::writer;
using steno::test::small_result;
using steno::test::timed_word;

std::string once(format f, const steno::result& r) { return writer(f).add("a.wav", r); }

TEST(writers, text_is_one_line) {
  EXPECT_EQ(once(format::text, small_result()), "Please stop & go.\n");
  steno::result r = small_result();
  r.segments[0].text = " two\nlines\t ";
  EXPECT_EQ(once(format::text, r), "two lines\n");
  r.segments.push_back(r.segments[0]);
  EXPECT_EQ(once(format::text, r), "two lines two lines\n");
  r.segments.clear();
  EXPECT_EQ(once(format::text, r), "\n");
}

TEST(writers, results_grow_segment_by_segment) {
  const steno::result r = small_result();
  for (const format f : {format::text, format::json, format::jsonl, format::srt, format::vtt, format::tsv}) {
    writer w(f);
    w.begin("a.wav");
    std::string text = w.add(r.segments[0]);
    // One object, at the end; a cue when it is known what follows it.
    EXPECT_EQ(text.empty(), f == format::json || f == format::srt);
    text += w.end(r);
    EXPECT_EQ(text, once(f, r));
  }
}

TEST(writers, an_interrupted_file_becomes_whole) {
  const steno::result r = small_result();
  writer text(format::text), object(format::json), nothing(format::json);
  text.begin("a.wav");
  std::string line = text.add(r.segments[0]);
  line += text.cut(1.5);
  EXPECT_EQ(line, "Please stop & go.\n");
  object.begin("a.wav");
  std::string json = object.add(r.segments[0]);
  json += object.cut(1.5);
  EXPECT_NE(json.find(R"("text":"Please stop & go.")"), std::string::npos) << json;
  EXPECT_NE(json.find(R"("interrupted_at":1.5)"), std::string::npos) << json;
  EXPECT_EQ(json.back(), '\n');
  nothing.begin("a.wav");
  EXPECT_EQ(nothing.cut(0), "");
}

TEST(writers, json_is_the_documented_object) {
  EXPECT_EQ(
      once(format::json, small_result()),
      R"({"model":"sense_voice","audio":"a.wav","duration":4.76,"language":"en","text":"Please stop & go.",)"
      R"("segments":[{"start":0.25,"end":1.5,"text":"Please stop & go.","token_ids":[4,12,7],"speaker":null,"words":[)"
      R"({"word":"Please","start":0.25,"end":0.6,"confidence":0.98,"timing":"native"},)"
      R"({"word":"stop","start":0.7,"end":1.0,"confidence":null,"timing":"aligned"},)"
      R"({"word":"go","confidence":0.25,"timing":"none"}]}],)"
      R"("extra":{"emotion":"NEUTRAL","score":-0.123}})"
      "\n");
}

TEST(writers, json_of_silence_speakers_and_other_languages) {
  steno::result r;
  r.model = "m";
  r.duration = 2;
  EXPECT_EQ(once(format::json, r),
            R"({"model":"m","audio":"a.wav","duration":2.0,"language":"","text":"","segments":[],"extra":{}})"
            "\n");
  steno::segment s;
  s.speaker = "speaker_1";
  s.language = "zh";
  s.extra = {{"event", "Speech"}};
  s.end = std::numeric_limits<double>::infinity();
  r.segments = {s};
  EXPECT_EQ(
      once(format::json, r),
      R"({"model":"m","audio":"a.wav","duration":2.0,"language":"","text":"","segments":[{"start":0.0,"end":null,"text":"",)"
      R"("token_ids":[],"speaker":"speaker_1","words":[],"extra":{"event":"Speech","language":"zh"}}],"extra":{}})"
      "\n");
}

TEST(writers, json_is_always_utf8) {
  steno::result r;
  r.segments.emplace_back().text =
      "a\xff"
      "b\xe4\xbd\xa0\"\n";
  const std::string json = once(format::json, r);
  EXPECT_NE(json.find("\"text\":\"a\xef\xbf\xbd"
                      "b\xe4\xbd\xa0\\\"\\n\""),
            std::string::npos)
      << json;
}

TEST(writers, jsonl_is_one_line_per_segment) {
  steno::result r = small_result();
  r.segments[0].words.clear();
  steno::segment second;
  second.start = 2;
  second.end = 3;
  second.text = "more";
  r.segments.push_back(second);
  EXPECT_EQ(
      once(format::jsonl, r),
      R"({"audio":"a.wav","language":"en","start":0.25,"end":1.5,"text":"Please stop & go.","token_ids":[4,12,7],"speaker":null,"words":[]})"
      "\n"
      R"({"audio":"a.wav","language":"en","start":2.0,"end":3.0,"text":"more","token_ids":[],"speaker":null,"words":[]})"
      "\n");
}

TEST(writers, srt_numbers_cues_through_all_files) {
  writer w(format::srt, true);
  EXPECT_EQ(w.add("a.wav", small_result()), "1\n00:00:00,250 --> 00:00:02,000\nPlease stop & go.\n\n");
  EXPECT_EQ(w.add("b.wav", small_result()), "2\n00:00:00,250 --> 00:00:02,000\nPlease stop & go.\n\n");
  EXPECT_EQ(w.add("c.wav", steno::result{}), "");
}

TEST(writers, vtt_has_one_header_and_escapes) {
  EXPECT_EQ(once(format::vtt, small_result()), "WEBVTT\n\n00:00:00.250 --> 00:00:02.000\nPlease stop &amp; go.\n\n");
  writer w(format::vtt, true);
  EXPECT_EQ(w.add("a-->b.wav", small_result()),
            "WEBVTT\n\nNOTE a->b.wav\n\n00:00:00.250 --> 00:00:02.000\nPlease stop &amp; go.\n\n");
  EXPECT_EQ(w.add("c.wav", steno::result{}), "NOTE c.wav\n\n");
  EXPECT_EQ(once(format::vtt, steno::result{}), "WEBVTT\n\n");
}

TEST(writers, subtitle_text_cannot_pass_for_a_time_line) {
  steno::result r = small_result();
  r.segments[0].text = "a --> b";
  EXPECT_EQ(once(format::srt, r), "1\n00:00:00,250 --> 00:00:02,000\na -> b\n\n");
  EXPECT_EQ(once(format::vtt, r), "WEBVTT\n\n00:00:00.250 --> 00:00:02.000\na --&gt; b\n\n");
}

TEST(writers, tsv_in_milliseconds) {
  steno::result r = small_result();
  r.segments[0].text = " tab\there ";
  writer w(format::tsv, true);
  EXPECT_EQ(w.add("a.wav", r), "start\tend\ttext\n250\t1500\ttab here\n");
  EXPECT_EQ(w.add("b.wav", r), "250\t1500\ttab here\n");
}

TEST(writers, clocks) {
  EXPECT_EQ(clock_text(0, ','), "00:00:00,000");
  EXPECT_EQ(clock_text(3723.4567, ','), "01:02:03,457");
  EXPECT_EQ(clock_text(59.9996, '.'), "00:01:00.000");
  EXPECT_EQ(clock_text(360000, '.'), "100:00:00.000");
  EXPECT_EQ(clock_text(-1, '.'), "00:00:00.000");
  EXPECT_EQ(clock_text(std::numeric_limits<double>::quiet_NaN(), '.'), "00:00:00.000");
}

TEST(writers, formats_have_names_and_extensions) {
  for (const auto name : steno::app::format_names) EXPECT_TRUE(steno::app::find_format(name)) << name;
  EXPECT_EQ(steno::app::find_format("tsv"), format::tsv);
  EXPECT_FALSE(steno::app::find_format("doc"));
  EXPECT_EQ(steno::app::extension(format::text), ".txt");
  EXPECT_EQ(steno::app::extension(format::jsonl), ".jsonl");
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include "writers.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "options.hpp"
#include "results.hpp"

namespace writers_test {

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
      R"({"model":"m","audio":"a.wav","duration":2.0,"language":"","text":"","segments":[)"
      R"({"start":0.0,"end":null,"text":"",)"
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
  EXPECT_EQ(once(format::jsonl, r),
            R"({"audio":"a.wav","language":"en","start":0.25,"end":1.5,"text":"Please stop & go.",)"
            R"("token_ids":[4,12,7],"speaker":null,"words":[]})"
            "\n"
            R"({"audio":"a.wav","language":"en","start":2.0,"end":3.0,"text":"more",)"
            R"("token_ids":[],"speaker":null,"words":[]})"
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
  for (const auto& f : steno::app::format_table) {
    EXPECT_EQ(&steno::app::facts(f.id), &f) << f.name;
    EXPECT_EQ(steno::app::find_format(f.name), f.id) << f.name;
  }
  EXPECT_EQ(steno::app::find_format("tsv"), format::tsv);
  EXPECT_FALSE(steno::app::find_format("doc"));
  EXPECT_EQ(steno::app::extension(format::text), ".txt");
  EXPECT_EQ(steno::app::extension(format::jsonl), ".jsonl");
}

TEST(writers, several_formats_have_commas_between) {
  using steno::app::find_formats;
  EXPECT_EQ(find_formats("srt,json,srt"), (std::vector{format::srt, format::json}));
  EXPECT_EQ(find_formats("all"), (std::vector{format::text, format::vtt, format::srt, format::tsv, format::json}));
  EXPECT_THROW(find_formats("srt,"), steno::app::stop);
  EXPECT_THROW(find_formats("srt,doc"), steno::app::stop);
}

steno::segment said(double start, double end, const std::string& text, std::vector<steno::word> words = {}) {
  steno::segment s;
  s.start = start;
  s.end = end;
  s.text = text;
  s.words = std::move(words);
  return s;
}

// 0 to 3 s, 3 to 5 s and, after a pause, 8 to 9 s.
steno::result three_segments() {
  steno::result r;
  r.duration = 9;
  r.segments = {said(0, 3, "one two"), said(3, 5, "three"), said(8, 9, "four")};
  return r;
}

std::string as(format f, const steno::result& r, const steno::app::layout& l, bool several = false) {
  return writer(f, several, l).add("talk.wav", r);
}

TEST(writers, a_line_of_text_is_what_was_asked_for) {
  using steno::app::text_rows;
  const steno::result r = three_segments();
  EXPECT_EQ(as(format::text, r, {}), "one two three\nfour\n");
  EXPECT_EQ(as(format::text, r, {}, true), "one two three four\n");
  EXPECT_EQ(as(format::text, r, {.rows = text_rows::recording}), "one two three four\n");
  EXPECT_EQ(as(format::text, r, {.rows = text_rows::segment}), "one two\nthree\nfour\n");
  EXPECT_EQ(as(format::text, r, {.rows = text_rows::paragraph}, true), "one two three\nfour\n");
  EXPECT_EQ(as(format::text, r, {.timestamps = true}),
            "[00:00:00.000 --> 00:00:03.000] one two\n[00:00:03.000 --> 00:00:05.000] three\n"
            "[00:00:08.000 --> 00:00:09.000] four\n");
  EXPECT_EQ(as(format::text, r, {.rows = text_rows::paragraph, .timestamps = true}),
            "[00:00:00.000] one two three\n[00:00:08.000] four\n");
  // openai's text is a line for each segment already; what it has not is written by steno.
  EXPECT_EQ(as(format::text, r, {.style = steno::app::style::openai}), "one two\nthree\nfour\n");
  EXPECT_EQ(as(format::text, r, {.style = steno::app::style::openai, .rows = text_rows::recording}),
            "one two three four\n");
}

TEST(writers, a_pause_between_words_ends_a_paragraph) {
  steno::result r;
  r.segments = {
      said(0, 30, "One two. Three", {timed_word("One", 1, 2), timed_word("two", 2, 3.5), timed_word("Three", 5.6, 6)})};
  EXPECT_EQ(as(format::text, r, {}), "One two.\nThree\n");
  EXPECT_EQ(as(format::text, r, {.rows = steno::app::text_rows::recording}), "One two. Three\n");
  EXPECT_EQ(as(format::text, r, {.timestamps = true}), "[00:00:01.000 --> 00:00:06.000] One two. Three\n");
  r.segments[0].words[2].start = 5.4;
  EXPECT_EQ(as(format::text, r, {}), "One two. Three\n");
}

TEST(writers, a_long_paragraph_ends_with_its_segment) {
  steno::result r;
  const std::string long_text(601, 'a');
  r.segments = {said(0, 30, long_text), said(30, 31, "b"), said(31, 32, "c")};
  EXPECT_EQ(as(format::text, r, {}), long_text + "\nb c\n");
  r.segments[0].text.pop_back();
  EXPECT_EQ(as(format::text, r, {}), long_text.substr(1) + " b\nc\n");  // with the space 602 columns
}

TEST(writers, a_turn_ends_a_line) {
  steno::result r = three_segments();
  r.segments[0].speaker = "Ann";
  r.segments[1].speaker = r.segments[2].speaker = "Bob";
  EXPECT_EQ(as(format::text, r, {.speakers = true}), "Ann: one two\nBob: three\nBob: four\n");
  EXPECT_EQ(as(format::text, r, {.speakers = true, .rows = steno::app::text_rows::recording}),
            "Ann: one two\nBob: three four\n");
  EXPECT_EQ(as(format::md, r, {.speakers = true}),
            "# talk.wav\n\n**Ann**: one two\n\n**Bob**: three\n\n**Bob**: four\n");
  EXPECT_EQ(as(format::csv, r, {.speakers = true}),
            "start,end,speaker,text\n0,3000,\"Ann\",\"one two\"\n3000,5000,\"Bob\",\"three\"\n"
            "8000,9000,\"Bob\",\"four\"\n");
  EXPECT_EQ(as(format::lrc, r, {.speakers = true}),
            "[00:00.00]Ann: one two\n[00:03.00]Bob: three\n[00:05.50]\n[00:08.00]Bob: four\n[00:09.00]\n");
}

TEST(writers, markdown_holds_no_marks_of_its_text) {
  steno::result r = three_segments();
  r.segments[0].text = "1. a *b* [c] #d";
  r.segments[2].text = "- e";
  EXPECT_EQ(as(format::md, r, {}), "# talk.wav\n\n1\\. a \\*b\\* \\[c\\] \\#d three\n\n\\- e\n");
  writer w(format::md, true);
  std::string both = w.add("a.wav", three_segments());
  both += w.add("b.wav", steno::result{});
  EXPECT_EQ(both, "# a.wav\n\none two three\n\nfour\n\n# b.wav\n");
  EXPECT_EQ(as(format::md, three_segments(), {.rows = steno::app::text_rows::paragraph, .timestamps = true}),
            "# talk.wav\n\n`00:00:00.000`: one two three\n\n`00:00:08.000`: four\n");
}

TEST(writers, csv_quotes_and_tells_recordings) {
  steno::result r = three_segments();
  r.segments = {said(0.25, 1.5, "he said \"so, what\"")};
  writer w(format::csv, true);
  std::string both = w.add("a.wav", r);
  both += w.add("b.wav", r);
  EXPECT_EQ(both,
            "audio,start,end,text\n\"a.wav\",250,1500,\"he said \"\"so, what\"\"\"\n"
            "\"b.wav\",250,1500,\"he said \"\"so, what\"\"\"\n");
}

TEST(writers, ass_has_karaoke_where_words_have_times) {
  steno::result r;
  r.duration = 10;
  r.segments = {said(0, 3, "One {two}", {timed_word("One", 0.5, 1), timed_word("{two}", 1.25, 2)}),
                said(4, 6, "a\\Nb")};
  r.segments[0].speaker = "Ann, Bob";
  const std::string all = as(format::ass, r, {.speakers = true});
  const std::size_t events = all.find("Dialogue:");
  ASSERT_NE(events, std::string::npos);
  EXPECT_EQ(all.rfind("[Script Info]\nTitle: talk.wav\n", 0), 0u);
  EXPECT_EQ(all.substr(events),
            "Dialogue: 0,0:00:00.50,0:00:02.50,Default,Ann; Bob,0,0,0,,{\\k50}One{\\k25}{\\k75} (two)\n"
            "Dialogue: 0,0:00:04.00,0:00:06.50,Default,,0,0,0,,a\\\xe2\x81\xa0Nb\n");
}

TEST(writers, colours_are_of_words_with_a_confidence) {
  steno::result r;
  r.segments = {said(0, 3, "sure not", {timed_word("sure", 0, 1), timed_word("not", 1, 2)})};
  r.segments[0].words[0].confidence = 1.0f;
  r.segments[0].words[1].confidence = 0.1f;
  EXPECT_EQ(as(format::text, r, {.colours = true}), "\x1b[38;5;46msure\x1b[0m\x1b[38;5;196m not\x1b[0m\n");
  r.segments[0].words.clear();
  EXPECT_EQ(as(format::text, r, {.colours = true}), "sure not\n");
}

}  // namespace writers_test

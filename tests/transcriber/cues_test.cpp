// SPDX-License-Identifier: Apache-2.0
#include "cues.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>

#include "results.hpp"
#include "text_width.hpp"

namespace cues_test {

using steno::app::columns;
using steno::app::cue;
using steno::app::split_cues;
using steno::app::wrap;
using steno::test::timed_word;
using lines = std::vector<std::string>;

TEST(text_width, east_asian_characters_take_two_columns) {
  EXPECT_EQ(columns("abc"), 3);
  EXPECT_EQ(columns("\u4f60\u597d"), 4);
  EXPECT_EQ(columns("e\u0301"), 1);
  EXPECT_EQ(columns("\u00fc\uac00"), 3);
  EXPECT_EQ(columns("\xff\xe4"), 2);  // malformed bytes are characters of their own
}

TEST(text_width, lines_break_at_spaces) {
  EXPECT_EQ(wrap("one two three", 7), (lines{"one two", "three"}));
  EXPECT_EQ(wrap("  one   two ", 42), (lines{"one two"}));
  EXPECT_EQ(wrap("unbreakable word", 5), (lines{"unbreakable", "word"}));
  EXPECT_EQ(wrap("", 5), lines{});
  EXPECT_EQ(wrap(" \t\n", 5), lines{});
}

TEST(text_width, lines_break_between_east_asian_characters_but_not_before_punctuation) {
  EXPECT_EQ(wrap("\u4f60\u597d\u5417", 4), (lines{"\u4f60\u597d", "\u5417"}));
  EXPECT_EQ(wrap("\u4f60\u597d\uff0c\u5417", 4), (lines{"\u4f60", "\u597d\uff0c", "\u5417"}));
  EXPECT_EQ(wrap("GPT\u4f60 ok", 42), (lines{"GPT\u4f60 ok"}));
}

steno::segment spoken(const std::string& text, const std::vector<steno::word>& words) {
  steno::segment s;
  s.text = text;
  s.words = words;
  s.start = 0;
  s.end = 100;
  return s;
}

// Each word lasts 0.3 s, and one begins every 0.4 s.
steno::segment even(const std::string& text, const std::vector<std::string>& words, double step = 0.4) {
  std::vector<steno::word> timed;
  double at = 0;
  for (const std::string& w : words) {
    timed.push_back(timed_word(w, at, at + step * 0.75));
    at += step;
  }
  return spoken(text, timed);
}

TEST(cues, a_short_segment_is_one_cue_with_its_words_times) {
  const auto cues =
      split_cues(spoken("Hello, world.", {timed_word("Hello", 1.0, 1.25), timed_word("world", 1.5, 2.0)}));
  ASSERT_EQ(cues.size(), 1u);
  EXPECT_EQ(cues[0].start, 1.0);
  EXPECT_EQ(cues[0].end, 2.0);
  EXPECT_EQ(cues[0].lines, lines{"Hello, world."});
}

TEST(cues, at_most_two_lines_of_42_columns) {
  std::vector<std::string> words;
  std::string text;
  for (int i = 0; i < 30; ++i) {
    words.push_back("word" + std::to_string(i));
    text += (text.empty() ? "" : " ") + words.back();
  }
  const auto cues = split_cues(even(text, words, 0.1));
  ASSERT_GE(cues.size(), 3u);
  std::string again;
  for (const cue& c : cues) {
    EXPECT_LE(c.lines.size(), 2u);
    for (const std::string& line : c.lines) {
      EXPECT_LE(columns(line), 42) << line;
      again += (again.empty() ? "" : " ") + line;
    }
  }
  EXPECT_EQ(again, text);
  for (std::size_t i = 1; i < cues.size(); ++i) EXPECT_GE(cues[i].start, cues[i - 1].end);
}

TEST(cues, at_most_seven_seconds) {
  const auto cues = split_cues(even("a b c d e f g h", {"a", "b", "c", "d", "e", "f", "g", "h"}, 1.2));
  ASSERT_EQ(cues.size(), 2u);
  EXPECT_EQ(cues[0].lines, lines{"a b c d e f"});  // f ends at 6.9 s
  EXPECT_EQ(cues[1].lines, lines{"g h"});
  EXPECT_DOUBLE_EQ(cues[1].start, 7.2);
}

TEST(cues, a_pause_ends_a_cue) {
  const auto cues = split_cues(spoken("yes. no", {timed_word("yes", 0, 0.5), timed_word("no", 1.5, 1.75)}));
  ASSERT_EQ(cues.size(), 2u);
  EXPECT_EQ(cues[0].lines, lines{"yes."});
  EXPECT_EQ(cues[0].end, 0.5);
  EXPECT_EQ(cues[1].lines, lines{"no"});
}

TEST(cues, text_is_cut_where_it_is_written_apart) {
  const auto cues = split_cues(
      spoken("so \"one\" (two)", {timed_word("so", 0, 1), timed_word("one", 5, 6), timed_word("two", 9, 10)}));
  ASSERT_EQ(cues.size(), 3u);
  EXPECT_EQ(cues[0].lines, lines{"so"});
  EXPECT_EQ(cues[1].lines, lines{"\"one\""});
  EXPECT_EQ(cues[2].lines, lines{"(two)"});
}

TEST(cues, chinese_has_no_spaces_and_is_two_columns_wide) {
  std::vector<std::string> words;
  std::string text;
  for (int i = 0; i < 50; ++i) {
    words.push_back("\u6211");
    text += words.back();
  }
  const auto cues = split_cues(even(text, words, 0.1));
  ASSERT_EQ(cues.size(), 2u);
  ASSERT_EQ(cues[0].lines.size(), 2u);
  EXPECT_EQ(columns(cues[0].lines[0]), 42);
  EXPECT_EQ(columns(cues[0].lines[1]), 42);
  EXPECT_EQ(columns(cues[1].lines[0]), 16);
}

TEST(cues, words_that_the_text_does_not_hold_are_joined) {
  const auto cues = split_cues(even("25", {"twenty", "five"}));
  ASSERT_EQ(cues.size(), 1u);
  EXPECT_EQ(cues[0].lines, lines{"twenty five"});
  EXPECT_EQ(split_cues(even("x", {"\u4f60", "\u597d"}))[0].lines, lines{"\u4f60\u597d"});
}

TEST(cues, without_word_times_a_segment_stays_whole) {
  steno::segment s = even("a b", {"a", "b"}, 5.0);
  s.words[1].how = steno::timing::none;
  auto cues = split_cues(s);
  ASSERT_EQ(cues.size(), 1u);
  EXPECT_EQ(cues[0].start, 0);
  EXPECT_EQ(cues[0].end, 100);
  s.words.clear();
  EXPECT_EQ(split_cues(s).size(), 1u);
  s.text = " ";
  EXPECT_TRUE(split_cues(s).empty());
}

// start, end of each as shown.
std::vector<std::pair<double, double>> shown(const std::vector<std::pair<double, double>>& spoken_at, double duration) {
  steno::app::cue_times times;
  std::vector<std::pair<double, double>> all;
  const auto take = [&](const std::optional<cue>& c) {
    if (c) all.emplace_back(c->start, c->end);
  };
  for (const auto& [start, end] : spoken_at) take(times.next({start, end, {"x"}}));
  take(times.last(duration));
  EXPECT_FALSE(times.last(duration));
  return all;
}
using spans = std::vector<std::pair<double, double>>;

TEST(cues, stay_until_they_are_read) {
  EXPECT_EQ(shown({{1, 2}, {5, 6}}, 10), (spans{{1, 2.5}, {5, 6.5}}));         // half a second longer
  EXPECT_EQ(shown({{1, 2}, {2.25, 6}}, 10), (spans{{1, 2.25}, {2.25, 6.5}}));  // up to the next one
  EXPECT_EQ(shown({{1, 2}}, 2.25), (spans{{1, 2.25}}));                        // not behind the end
  EXPECT_EQ(shown({}, 1), spans{});
}

TEST(cues, none_is_shorter_than_it_takes_to_see_it) {
  EXPECT_EQ(shown({{1, 1}, {4, 4}}, 10), (spans{{1, 1.5}, {4, 4.5}}));
  EXPECT_EQ(shown({{1, 1}, {1, 1.5}, {3, 4}}, 10), (spans{{1, 1.3}, {1.3, 2}, {3, 4.5}}));
  EXPECT_EQ(shown({{1, 3}, {2, 4}}, 10), (spans{{1, 2}, {2, 4.5}}));  // words that overlap do not make cues that do
  const spans late = shown({{1, 2}, {9.9, 11}}, 10);
  EXPECT_EQ(late[1].second, 10);
  EXPECT_NEAR(late[1].first, 9.7, 1e-9);
}

// Nothing says when a word is spoken: each cue has as much of the segment as it has of its columns.
TEST(cues, share_a_segment_whose_words_have_no_times) {
  steno::segment s = spoken("", {});
  for (int i = 0; i < 20; ++i) s.text += "abcdefghi ";  // four of ten columns fit into a line
  s.start = 10;
  s.end = 30;
  const std::vector<cue> all = split_cues(s);
  ASSERT_EQ(all.size(), 3u);
  double before = s.start;
  for (const cue& c : all) {
    EXPECT_LE(c.lines.size(), 2u);
    for (const std::string& line : c.lines) EXPECT_LE(columns(line), 42);
    EXPECT_DOUBLE_EQ(c.start, before);
    before = c.end;
  }
  EXPECT_DOUBLE_EQ(before, s.end);
  EXPECT_NEAR(all[0].end - all[0].start, 8.0, 1e-9);  // 78 of 195 columns
  EXPECT_NEAR(all[2].end - all[2].start, 4.0, 1e-9);
  s.text = "short";
  EXPECT_EQ(split_cues(s).size(), 1u);
  EXPECT_DOUBLE_EQ(split_cues(s)[0].end, 30);
}

}  // namespace cues_test

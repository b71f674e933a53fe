// Who said which word, by tables: a row of probabilities lasts 0.1 s here.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/speaker_attribution.hpp>

#include "support/random.hpp"

#include <gtest/gtest.h>

#include <string>

namespace speaker_attribution_test {

using namespace steno;
using pipelines::speaker_attribution;
using pipelines::speaker_attribution_options;

using rows = std::vector<std::vector<float>>;  // [row][speaker]

word at(std::string text, double start, double end) {
  return {.text = std::move(text), .start = start, .end = end, .how = timing::native};
}
segment said(std::string text, std::vector<word> words, double start = 0, double end = 10) {
  segment s;
  s.start = start;
  s.end = end;
  s.text = std::move(text);
  s.words = std::move(words);
  return s;
}
std::vector<segment> taken(speaker_attribution& who) {
  std::vector<segment> all;
  who.take([&](segment s) { all.push_back(std::move(s)); });
  return all;
}
void push(speaker_attribution& who, const rows& p) {
  std::vector<float> flat;
  for (const auto& r : p) flat.insert(flat.end(), r.begin(), r.end());
  const auto n = static_cast<extent>(p.size());
  who.push(core::make_view(static_cast<const float*>(flat.data()), n,
                           static_cast<extent>(flat.size()) / std::max<extent>(n, 1)));
}
std::vector<segment> attributed(const rows& p, std::vector<segment> all, const speaker_attribution_options& o = {}) {
  speaker_attribution who(static_cast<extent>(p[0].size()), 0.1, o);
  push(who, p);
  who.finish();
  for (segment& s : all) who.add(std::move(s));
  return taken(who);
}
// "1 1 2 -": the number of each word's speaker, pieces of text parted by " | ".
std::string speakers(const std::vector<segment>& all) {
  const auto shown = [](const std::optional<std::string>& s) { return s ? s->substr(s->rfind(' ') + 1) : "-"; };
  std::string out;
  for (const segment& s : all) {
    out += (out.empty() ? "" : " | ") + shown(s.speaker) + ":";
    for (const word& w : s.words) out += " " + shown(w.speaker);
  }
  return out;
}
std::string texts(const std::vector<segment>& all) {
  std::string out;
  for (const segment& s : all) out += (out.empty() ? "" : "|") + s.text;
  return out;
}

// Speaker a in rows 0 to 9, b in rows 10 to 19.
const rows two = [] {
  rows p(20, {0, 0});
  for (std::size_t i = 0; i < 20; ++i) p[i][i / 10] = 0.9f;
  return p;
}();

TEST(speaker_attribution, one_speaker) {
  const auto all = attributed(rows(20, {0.8f}), {said("Hello, world.", {at("Hello", 0.1, 0.4), at("world", 0.5, 1)})});
  EXPECT_EQ(speakers(all), "1: 1 1");
  EXPECT_EQ(texts(all), "Hello, world.");
  EXPECT_EQ(all[0].start, 0);
  EXPECT_EQ(all[0].end, 10);
}

TEST(speaker_attribution, a_segment_is_cut_where_the_speaker_changes) {
  segment s = said("Are you there? Yes, (I am).",
                   {at("Are", 0.2, 0.3), at("you", 0.3, 0.5), at("there", 0.5, 0.9), at("Yes", 1.1, 1.3),
                    at("I", 1.4, 1.5), at("am", 1.5, 1.9)},
                   0.1, 2);
  s.token_ids = {1, 2, 3};
  s.score = -1;
  s.language = "en";
  s.extra = {{"emotion", "HAPPY"}, {"raw_text", "<|en|>Are you there? Yes, (I am)."}};
  const auto all = attributed(two, {s});
  EXPECT_EQ(speakers(all), "1: 1 1 1 | 2: 2 2 2");
  EXPECT_EQ(texts(all), "Are you there?|Yes, (I am).");
  EXPECT_EQ(all[0].start, 0.1);
  EXPECT_EQ(all[0].end, 0.9);
  EXPECT_EQ(all[1].start, 1.1);
  EXPECT_EQ(all[1].end, 2);
  EXPECT_EQ(all[0].token_ids, s.token_ids);  // what is said of the whole
  EXPECT_EQ(all[0].score, -1);
  EXPECT_TRUE(all[1].token_ids.empty());
  EXPECT_FALSE(all[1].score);
  EXPECT_EQ(all[1].language, "en");
  EXPECT_EQ(all[0].extra, (std::vector<core::extra_field>{{"emotion", "HAPPY"}, {"raw_text", "<|en|>Are you there?"}}));
  EXPECT_EQ(all[1].extra, (std::vector<core::extra_field>{{"emotion", "HAPPY"}, {"raw_text", " Yes, (I am)."}}));
  EXPECT_EQ(all[0].speaker, "Speaker 1");
  EXPECT_EQ(all[1].words[2].speaker, "Speaker 2");
}

TEST(speaker_attribution, most_of_the_probability_over_a_word) {
  struct row {
    double start, end;
    const char* want;
  };
  rows p(20, {0.6f, 0.9f});  // both all the time
  for (std::size_t i = 10; i < 20; ++i) p[i] = {0.9f, 0.6f};
  for (const row& r : {row{0, 0.5, "b"}, row{1.2, 1.4, "a"}, row{0.8, 1.1, "b"}, row{0.9, 1.2, "a"}}) {
    speaker_attribution who(2, 0.1);
    push(who, p);
    who.finish();
    who.add(said("a", {at("a", 1.5, 1.6)}));
    who.add(said("b", {at("b", 0.1, 0.2)}));
    who.add(said("x", {at("x", r.start, r.end)}));
    EXPECT_EQ(*taken(who)[2].speaker, *r.want == 'a' ? "Speaker 1" : "Speaker 2") << r.start;
  }
}

// Below the threshold there is no turn, however much it adds up to.
TEST(speaker_attribution, what_is_no_turn_does_not_count) {
  rows p(10, {0.45f, 0});
  p[4] = {0.45f, 0.6f};
  EXPECT_EQ(speakers(attributed(p, {said("x", {at("x", 0, 1)})})), "1: 1");
  EXPECT_EQ(speakers(attributed(rows(10, {0.5f}), {said("x", {at("x", 0, 1)})})), "-: -");  // not above
  rows q(10, {0.4f, 0});
  q[0] = {0.8f, 0};
  for (std::size_t i = 5; i < 10; ++i) q[i][1] = 0.9f;
  // With a lower end the turn of the first goes on.
  EXPECT_EQ(speakers(attributed(q, {said("x y", {at("x", 0, 0.1), at("y", 0.3, 0.5)})}, {.offset = 0.3})), "1: 1 1");
  EXPECT_EQ(speakers(attributed(q, {said("x y", {at("x", 0, 0.1), at("y", 0.4, 0.5)})})), "1: 1 | 2: 2");
}

TEST(speaker_attribution, ties) {
  rows p(30, {0, 0});
  for (std::size_t i = 0; i < 10; ++i) p[i][1] = 0.9f;        // b alone
  for (std::size_t i = 10; i < 20; ++i) p[i] = {0.7f, 0.7f};  // both alike
  for (std::size_t i = 20; i < 30; ++i) p[i][0] = 0.9f;       // a alone
  const auto tied = at("t", 1.2, 1.5);
  // The speaker of the word before.
  EXPECT_EQ(speakers(attributed(p, {said("x t y", {at("x", 0, 0.5), tied, at("y", 2, 2.5)})})), "1: 1 1 | 2: 2");
  EXPECT_EQ(speakers(attributed(p, {said("y", {at("y", 2, 2.5)}), said("t", {tied})})), "1: 1 | 1: 1");
  // Nobody before: who appeared first.
  const auto first = attributed(p, {said("t x", {tied, at("x", 0, 0.5)})});
  EXPECT_EQ(speakers(first), "1: 1 1");
  // Half of a word each.
  EXPECT_EQ(speakers(attributed(two, {said("t", {at("t", 0.9, 1.1)})})), "1: 1");
  EXPECT_EQ(speakers(attributed(two, {said("b t", {at("b", 1.5, 1.6), at("t", 0.9, 1.1)})})), "1: 1 1");
  // Both began together: the lower column.
  EXPECT_EQ(speakers(attributed(rows(5, {0.7f, 0.7f}), {said("t", {at("t", 0.1, 0.2)})})), "1: 1");
}

TEST(speaker_attribution, gaps) {
  rows p(40, {0, 0});
  for (std::size_t i = 10; i < 20; ++i) p[i][0] = 0.9f;  // 1 to 2 s
  for (std::size_t i = 25; i < 30; ++i) p[i][1] = 0.9f;  // 2.5 to 3 s
  const auto one = [&](double start, double end) {
    return speakers(attributed(p, {said("a b x", {at("a", 1.1, 1.2), at("b", 2.6, 2.7), at("x", start, end)})}));
  };
  EXPECT_EQ(one(2.1, 2.2), "1: 1 | 2: 2 | 1: 1");  // 0.1 from the first
  EXPECT_EQ(one(2.2, 2.35), "1: 1 | 2: 2 2");      // 0.15 from the second
  EXPECT_EQ(one(2.2, 2.3), "1: 1 | 2: 2 2");       // as far: the speaker of the word before
  EXPECT_EQ(one(3.25, 3.5), "1: 1 | 2: 2 2");      // 0.25 away
  EXPECT_EQ(one(3.251, 3.5), "1: 1 | 2: 2 -");     // nobody's, and it does not part the segment
  EXPECT_EQ(one(0.5, 0.75), "1: 1 | 2: 2 | 1: 1");
  EXPECT_EQ(one(0.5, 0.74), "1: 1 | 2: 2 -");
  EXPECT_EQ(speakers(attributed(p, {said("x a", {at("x", 0.2, 0.5), at("a", 1.1, 1.2)})})), "1: - 1");
  EXPECT_EQ(speakers(attributed(p, {said("x", {at("x", 0.2, 0.5)})})), "-: -");
  EXPECT_EQ(speakers(attributed(p, {said("x", {at("x", 9, 9.5)})})), "-: -");
  EXPECT_EQ(speakers(attributed(p, {said("x", {at("x", 3.3, 3.5)})}, {.reach = 0.3})), "1: 1");
}

TEST(speaker_attribution, words_without_duration) {
  EXPECT_EQ(speakers(attributed(two, {said("a b", {at("a", 0.95, 0.95), at("b", 1.0, 1.0)})})), "1: 1 | 2: 2");
  EXPECT_EQ(speakers(attributed(two, {said("a", {at("a", 2.0, 2.0)})})), "1: 1");  // behind the last row
  rows p(10, {0.6f, 0.7f});
  EXPECT_EQ(speakers(attributed(p, {said("a b", {at("a", 0, 0), at("b", 0.5, 0.5)})})), "1: 1 1");
  EXPECT_EQ(speakers(attributed(two, {said("a", {at("a", 1.5, 1.2)})})), "1: 1");  // an end before its start
}

TEST(speaker_attribution, words_without_times_are_their_segments) {
  word a{.text = "a"}, b{.text = "b"};
  EXPECT_EQ(speakers(attributed(two, {said("a b", {a, b}, 0, 0.9), said("a b", {a, b}, 0.5, 2)})), "1: 1 1 | 2: 2 2");
  EXPECT_EQ(speakers(attributed(two, {said("a b", {}, 0, 0.9), said("c", {}, 0.5, 2)})), "1: | 2:");
  EXPECT_EQ(speakers(attributed(two, {said("a", {a}, 5, 6)})), "-: -");
  // Some have times: those have their own speaker, and the segment stays whole.
  const auto mixed = attributed(two, {said("a b c", {at("a", 0.1, 0.2), b, at("c", 1.1, 1.2)}, 0, 1.9)});
  EXPECT_EQ(speakers(mixed), "1: 1 1 2");
  // A text of other words cannot be cut.
  EXPECT_EQ(texts(attributed(two, {said("25", {at("twenty", 0.1, 0.5), at("five", 1.1, 1.5)})})), "25");
}

TEST(speaker_attribution, five_speakers_have_names_in_the_order_in_which_they_are_heard) {
  rows p(50, rows::value_type(5, 0));
  const std::size_t order[] = {3, 0, 4, 1, 2};
  for (std::size_t i = 0; i < 50; ++i) p[i][order[i / 10]] = 0.9f;
  std::vector<word> words;
  std::string text;
  for (int i = 0; i < 10; ++i) {
    words.push_back(at("w", i * 0.5 + 0.1, i * 0.5 + 0.3));
    text += i == 0 ? "w" : " w";
  }
  const auto all = attributed(p, {said(text, words)});
  EXPECT_EQ(speakers(all), "1: 1 1 | 2: 2 2 | 3: 3 3 | 4: 4 4 | 5: 5 5");
  const auto named = attributed(p, {said(text, words)}, {.names = {"Ann", "Bob"}});
  EXPECT_EQ(*named[0].speaker, "Ann");
  EXPECT_EQ(*named[1].words[0].speaker, "Bob");
  EXPECT_EQ(*named[2].speaker, "Speaker 3");
}

// Pieces, joined as results are, are the text.
TEST(speaker_attribution, texts_stay_as_they_are) {
  struct row {
    const char* text;
    std::vector<const char*> words;  // the first half is the first speaker's
    const char* want;
  };
  const row table[] = {
      {"\xe4\xbd\xa0\xe5\xa5\xbd,\xe4\xb8\x96\xe7\x95\x8c\xe3\x80\x82",
       {"\xe4\xbd\xa0", "\xe5\xa5\xbd", "\xe4\xb8\x96", "\xe7\x95\x8c"},
       "\xe4\xbd\xa0\xe5\xa5\xbd,|\xe4\xb8\x96\xe7\x95\x8c\xe3\x80\x82"},
      {"\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x8c\xe4\xb8\x96\xe7\x95\x8c\xe3\x80\x82",
       {"\xe4\xbd\xa0", "\xe5\xa5\xbd", "\xe4\xb8\x96", "\xe7\x95\x8c"},
       "\xe4\xbd\xa0\xe5\xa5\xbd\xef\xbc\x8c|\xe4\xb8\x96\xe7\x95\x8c\xe3\x80\x82"},
      {"\xe4\xbd\xa0\xe5\xa5\xbd world \xe7\x95\x8c",
       {"\xe4\xbd\xa0", "\xe5\xa5\xbd", "world", "\xe7\x95\x8c"},
       "\xe4\xbd\xa0\xe5\xa5\xbd| world \xe7\x95\x8c"},
      {"hello \xe4\xb8\x96\xe7\x95\x8c", {"hello", "\xe4\xb8\x96"}, "hello| \xe4\xb8\x96\xe7\x95\x8c"},
      {"a  b", {"a", "b"}, "a|  b"},
      {"twenty-two", {"twenty", "two"}, "twenty-two"},  // a piece would begin without the space that joins it
      {"\xe4\xbb\x96\xe8\xaf\xb4\xe3\x80\x8c\xe5\xa5\xbd\xe3\x80\x8d",
       {"\xe4\xbb\x96", "\xe8\xaf\xb4", "\xe5\xa5\xbd", "\xe3\x80\x8d"},
       "\xe4\xbb\x96\xe8\xaf\xb4|\xe3\x80\x8c\xe5\xa5\xbd\xe3\x80\x8d"},
      {" a b ", {"a", "b"}, " a|b "},
      {"He said \"no\" and \"yes\".", {"He", "said", "no", "and", "yes"}, "He said|\"no\" and \"yes\"."},
  };
  for (const row& r : table) {
    std::vector<word> words;
    const std::size_t half = r.words.size() / 2;
    for (std::size_t i = 0; i < r.words.size(); ++i)
      words.push_back(at(r.words[i], i < half ? 0.2 : 1.2, i < half ? 0.4 : 1.4));
    const auto all = attributed(two, {said(r.text, words)});
    EXPECT_EQ(texts(all), r.want);
    std::string joined;
    for (const segment& s : all) pipelines::append_text(joined, s.text);
    EXPECT_EQ(joined, r.text);
  }
}

TEST(speaker_attribution, what_is_not_settled_waits) {
  speaker_attribution who(2, 0.1);
  who.add(said("a b", {at("a", 0.1, 0.3), at("b", 0.9, 1.05)}, 0, 1.1));
  push(who, rows(two.begin(), two.begin() + 10));
  EXPECT_EQ(taken(who).size(), 0u);
  push(who, rows(two.begin() + 10, two.begin() + 11));
  EXPECT_EQ(speakers(taken(who)), "1: 1 1");
  who.add(said("c", {at("c", 1.5, 1.5)}));
  EXPECT_EQ(who.waiting(), 1u);
  push(who, rows(two.begin() + 11, two.begin() + 16));
  EXPECT_EQ(speakers(taken(who)), "2: 2");
  who.add(said("d", {at("d", 3, 3.1)}));
  push(who, rows(17, {0, 0}));  // up to 3.3 s: a near turn may still come
  EXPECT_EQ(taken(who).size(), 0u);
  who.finish();
  EXPECT_EQ(speakers(taken(who)), "-: -");
}

// Whatever comes first, and in whatever pieces, with memory that is given back.
TEST(speaker_attribution, portions_make_no_difference) {
  test::random_numbers random(7);
  const extent count = 600, n = 4;
  const std::vector<float> p = random.vector(count * n, 0, 1);
  std::vector<segment> spoken;
  double t = 0;
  for (int i = 0; i < 60; ++i) {
    segment s;
    s.start = t;
    for (int k = 0; k < 5; ++k) {
      const double length = 0.01 * ((i * 7 + k * 13) % 23), pause = 0.01 * ((i * 5 + k) % 11);
      s.words.push_back(at("w" + std::to_string(k), t, t + length));
      s.text += (k == 0 ? "" : " ") + s.words.back().text;
      t += length + pause;
    }
    s.end = t;
    spoken.push_back(s);
  }
  const auto row = [&](extent from, extent to) { return core::make_view(p.data() + from * n, to - from, n); };
  result whole;
  whole.segments = spoken;
  pipelines::attribute_speakers(whole, row(0, count), 0.08);
  for (const extent step : {1, 3, 50}) {
    for (const double ahead : {-1.0, 0.0, 2.0}) {  // seconds that the recogniser is ahead
      speaker_attribution who(n, 0.08);
      std::vector<segment> found;
      const auto take = [&](segment s) { found.push_back(std::move(s)); };
      std::size_t next = 0;
      for (extent r = 0; r < count; r += step) {
        who.push(row(r, std::min(count, r + step)));
        const double now = static_cast<double>(r) * 0.08 + ahead;
        for (; next < spoken.size() && spoken[next].end <= now; ++next) who.add(spoken[next]);
        who.forget(next < spoken.size() ? spoken[next].start : now);
        who.take(take);
      }
      for (; next < spoken.size(); ++next) who.add(spoken[next]);
      who.finish();
      who.take(take);
      ASSERT_EQ(speakers(found), speakers(whole.segments)) << step << ' ' << ahead;
      ASSERT_EQ(texts(found), texts(whole.segments));
    }
  }
}

TEST(speaker_attribution, turns_instead_of_rows) {
  result r;
  r.segments = {said("a b c", {at("a", 0.1, 0.4), at("b", 0.45, 0.7), at("c", 1.2, 1.3)}, 0, 2)};
  segment first, second;
  first.start = 0;
  first.end = 0.5;
  first.speaker = "speaker_0";
  second.start = 0.5;
  second.end = 1;
  second.speaker = "speaker_1";
  pipelines::attribute_speakers(r, {first, second});
  EXPECT_EQ(speakers(r.segments), "1: 1 | 2: 2 2");
}

TEST(speaker_attribution, a_segment_that_stays_whole) {
  const auto words = {at("a", 0.1, 0.3), at("b", 0.5, 0.9), at("c", 1.1, 1.3)};
  const auto all = attributed(two, {said("a b c", words, 0, 2)}, {.split = false});
  EXPECT_EQ(speakers(all), "1: 1 1 2");
  EXPECT_EQ(texts(all), "a b c");
  // The larger share, between its words: not its first word's.
  EXPECT_EQ(speakers(attributed(two, {said("a c", {at("a", 0.8, 0.9), at("c", 1.1, 1.3)}, 0, 2)}, {.split = false})),
            "2: 1 2");
}

TEST(speaker_attribution, one_segment_at_a_time) {
  speaker_attribution who(2, 0.1);
  push(who, two);
  who.finish();
  who.add(said("a c", {at("a", 0.8, 0.9), at("c", 1.1, 1.3)}));
  who.add(said("c", {at("c", 1.1, 1.3)}));
  std::vector<segment> found;
  const auto take = [&](segment s) { found.push_back(std::move(s)); };
  EXPECT_TRUE(who.take_one(take));
  EXPECT_EQ(speakers(found), "1: 1 | 2: 2");
  EXPECT_TRUE(who.take_one(take));
  EXPECT_FALSE(who.take_one(take));
  EXPECT_EQ(speakers(found), "1: 1 | 2: 2 | 2: 2");
}

TEST(speaker_attribution, empty_texts_and_bad_options) {
  const auto all = attributed(two, {said("", {})});
  ASSERT_EQ(all.size(), 1u);
  EXPECT_FALSE(all[0].speaker);
  EXPECT_THROW(speaker_attribution(2, 0.1, {.onset = 0.4}), error);
  EXPECT_THROW(speaker_attribution(2, 0.1, {.reach = -1}), error);
}

}  // namespace speaker_attribution_test

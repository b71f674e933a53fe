// Inverse text normalisation by rules: both kinds of grammars, what cannot be one, and the times of words.
// SPDX-License-Identifier: Apache-2.0
#include "itn.hpp"

#include <steno/error.hpp>
#include <steno/text/words_in_text.hpp>

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "itn_tokens.hpp"
#include "support/golden.hpp"
#include "support/small_fst.hpp"
#include "written_words.hpp"

namespace itn_test {

using steno::segment;
using steno::word;
using steno::app::inverse_text_normaliser;
using steno::app::words_as_written;

class normalising : public testing::Test {
 protected:
  std::string at(const char* name) const { return (directory.path() / name).string(); }
  std::string refusal(const std::string& path) const {
    try {
      const inverse_text_normaliser rules(path);
    } catch (const steno::error& e) {
      return e.what();
    }
    return "none";
  }
  const steno::test::temporary_directory directory;
};

// A second for each word.
std::vector<word> spoken_words(const std::string& text) {
  std::vector<word> words;
  std::istringstream in(text);
  for (std::string w; in >> w;) {
    const auto i = static_cast<double>(words.size());
    words.push_back({.text = w, .start = i, .end = i + 1, .confidence = 0.5f});
  }
  return words;
}

std::string shown(const std::vector<word>& words) {
  std::ostringstream out;
  for (const word& w : words) out << w.text << '[' << w.start << ' ' << w.end << ']';
  return out.str();
}

TEST_F(normalising, by_rules_of_wetext) {
  steno::test::write_wetext_rules(directory.path());
  for (const std::string& path : {directory.path().string(), at("en_itn_tagger.fst")}) {
    const inverse_text_normaliser rules(path);
    EXPECT_EQ(rules.written("leaves in seven minutes"), "leaves in 7 minutes");
    EXPECT_EQ(rules.written("twenty three cats."), "23 cats.");
    EXPECT_EQ(rules.written(""), "");
    EXPECT_EQ(rules.written(" "), " ");
    EXPECT_EQ(rules.written("seven \xc3\xa9"), "seven \xc3\xa9");  // no reading: it stays
  }
}

TEST_F(normalising, by_rules_of_nemo) {
  steno::test::write_nemo_rules(directory.path());
  for (const std::string& path :
       {directory.path().string(), at("classify/tokenize_and_classify.far"), at("classify")}) {
    const inverse_text_normaliser rules(path);
    EXPECT_EQ(rules.written("leaves in seven minutes"), "leaves in 7 min");
    EXPECT_EQ(rules.written("seven minutes."), "7 min.");  // the mark has no space of its own
    EXPECT_EQ(rules.written("nothing else"), "nothing else");
  }
}

TEST_F(normalising, segments_keep_their_times) {
  steno::test::write_wetext_rules(directory.path());
  const inverse_text_normaliser rules(directory.path().string());
  segment s;
  s.text = "all twenty three trains";
  s.words = spoken_words(s.text);
  s.alternatives = {{.text = s.text, .score = -1}, {.text = "all seven trains", .score = -2}};
  rules.rewrite(s);
  EXPECT_EQ(s.text, "all 23 trains");
  EXPECT_EQ(shown(s.words), "all[0 1]23[1 3]trains[3 4]");
  EXPECT_EQ(s.alternatives[1].text, "all 7 trains");
}

TEST_F(normalising, what_is_no_grammar_is_refused_by_name) {
  EXPECT_NE(refusal(directory.path().string()).find("found none of them"), std::string::npos);
  EXPECT_NE(refusal(at("en_itn_tagger.fst")).find("there is no such file"), std::string::npos);
  steno::test::write_wetext_rules(directory.path());
  steno::test::write_wetext_rules(directory.path(), "zh");
  EXPECT_NE(refusal(directory.path().string()).find("name the file of the one that you want"), std::string::npos);
  EXPECT_EQ(refusal(at("zh_itn_tagger.fst")), "none");

  std::filesystem::remove(at("zh_itn_verbalizer.fst"));
  EXPECT_NE(refusal(at("zh_itn_tagger.fst")).find("zh_itn_verbalizer.fst: there is no such file"), std::string::npos);
  std::filesystem::copy_file(at("en_itn_tagger.fst"), at("en_tn_tagger.fst"));
  EXPECT_NE(refusal(at("en_tn_tagger.fst")).find("figures as words"), std::string::npos);

  const auto size = std::filesystem::file_size(at("en_itn_tagger.fst"));
  for (const auto cut : {std::uintmax_t{0}, std::uintmax_t{3}, std::uintmax_t{30}, size / 2, size - 1}) {
    std::filesystem::resize_file(at("en_itn_tagger.fst"), cut);
    EXPECT_NE(refusal(at("en_itn_tagger.fst")).find("cannot be used as rules"), std::string::npos) << cut;
    steno::test::write_wetext_rules(directory.path());
  }
  std::ofstream(at("en_itn_tagger.fst"))
      << "this is a text and no transducer at all, and it is long enough for a header";
  EXPECT_NE(refusal(at("en_itn_tagger.fst")).find("this is no transducer"), std::string::npos);
  steno::test::small_fst astray(1);
  astray.path(0, 70, "a", "b");  // there is no such state
  astray.write(at("en_itn_tagger.fst"));
  EXPECT_NE(refusal(at("en_itn_tagger.fst")).find("its arcs lead nowhere"), std::string::npos);
}

TEST(itn_tokens, are_read_as_both_write_them) {
  using namespace steno::app;
  const auto two = parse_itn_tokens("date { month: \"01\" year: \"2022\" } char { value: \"\\\"\" } ");
  ASSERT_TRUE(two);
  EXPECT_EQ(itn_text(in_the_order_of_wetext((*two)[0])), "date { year: \"2022\" month: \"01\" }");
  EXPECT_EQ(itn_text((*two)[1]), "char { value: \"\\\"\" }");
  const auto kept = parse_itn_tokens("date { month: \"01\" year: \"2022\" preserve_order: true }");
  ASSERT_TRUE(kept);
  EXPECT_EQ(itn_text(in_the_order_of_wetext((*kept)[0])), "date { month: \"01\" year: \"2022\" preserve_order: true }");
  int orders = 0;
  EXPECT_FALSE(each_order((*kept)[0], [&](const itn_token&) { return ++orders > 100; }));
  EXPECT_EQ(orders, 1);
  orders = 0;
  const auto nested = parse_itn_tokens("tokens { measure { a: \"1\" b { c: \"2\" d: \"3\" } } }");
  ASSERT_TRUE(nested);
  EXPECT_FALSE(each_order((*nested)[0].fields[0], [&](const itn_token&) { return ++orders > 100; }));
  EXPECT_EQ(orders, 4);
  for (const char* bad : {"date", "date {", "date { year }", "date { year: 2022", "date { year: \"2022 }", "{ }",
                          "a: \"b\"", "a { b { c { d { e { f { g { h { i: \"1\" } } } } } } } }"})
    EXPECT_FALSE(parse_itn_tokens(bad)) << bad;
}

TEST(written_words, follow_the_text) {
  const auto as_written = [](const std::string& spoken, const std::string& written) {
    return shown(words_as_written(spoken, spoken_words(spoken), written));
  };
  EXPECT_EQ(as_written("in seven minutes", "in 7 min"), "in[0 1]7[1 1.5]min[1.5 3]");
  EXPECT_EQ(as_written("a b", "a b"), "a[0 1]b[1 2]");
  EXPECT_EQ(as_written("one two", "12"), "12[0 2]");
  EXPECT_EQ(as_written("a b", "a x b"), "a[0 1]x[1 1]b[1 2]");  // nobody said it
  EXPECT_EQ(as_written("a b c", "a c"), "a[0 1]c[2 3]");
  EXPECT_EQ(as_written("a b", ""), "");
  EXPECT_EQ(as_written("three p m.", "3 p.m."), "3[0 0.6]p.m.[0.6 3]");
  EXPECT_EQ(as_written("two euro.", "2\xe2\x82\xac."), "2\xe2\x82\xac[0 2]");
  EXPECT_EQ(shown(words_as_written("not these", spoken_words("other words here"), "x")),
            "other[0 1]words[1 2]here[2 3]");
}

// Whatever is rewritten: words stand in the text, in order of time, within what was said.
TEST(written_words, are_those_of_the_text_for_any_change) {
  std::mt19937 random(1);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  for (int turn = 0; turn < 300; ++turn) {
    std::string spoken, written;
    const int count = 1 + below(40);
    for (int i = 0; i < count; ++i) {
      const std::string w(static_cast<std::size_t>(1 + below(4)), static_cast<char>('a' + below(5)));
      spoken += (i > 0 ? " " : "") + w;
      const int change = below(8);
      if (change == 0) continue;
      written += (written.empty() ? "" : " ") + (change == 1 ? std::to_string(below(100)) : w);
      if (change == 2) written += " x" + std::to_string(below(9));
    }
    const std::vector<word> words = words_as_written(spoken, spoken_words(spoken), written);
    EXPECT_EQ(steno::text::words_in_text(written, words).size(), words.size()) << spoken << " | " << written;
    double last = 0;
    std::string joined;
    for (const word& w : words) {
      EXPECT_LE(last, w.start + 1e-9);
      EXPECT_LE(w.start, w.end);
      last = w.end;
      joined += (joined.empty() ? "" : " ") + w.text;
    }
    EXPECT_LE(last, count + 1e-9);
    EXPECT_EQ(joined, written);
  }
}

}  // namespace itn_test

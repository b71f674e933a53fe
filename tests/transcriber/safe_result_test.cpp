// Texts of a model that would steer a terminal or break a file of subtitles, through every writer.
// SPDX-License-Identifier: Apache-2.0
#include "safe_result.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "text_width.hpp"
#include "writers.hpp"

namespace safe_result_test {

using steno::app::format;
using steno::app::one_line;
using steno::app::printable;
using steno::app::result_text;
using namespace std::string_literals;

TEST(safe_result, results_keep_text_newlines_and_tabs) {
  EXPECT_EQ(result_text("gr\xc3\xbc\xc3\x9f\t\xe6\x97\xa5\n"), "gr\xc3\xbc\xc3\x9f\t\xe6\x97\xa5\n");
  EXPECT_EQ(result_text("a\x1b[2J\0\x7f\r\xc2\x9b\xc2\x80z"s), "a[2Jz");
  EXPECT_EQ(result_text("\x9b|\xe6\x97|\xff"), "\xef\xbf\xbd|\xef\xbf\xbd|\xef\xbf\xbd");
  EXPECT_EQ(result_text("\xc2\xa0\xc2\xad"), "\xc2\xa0\xc2\xad");  // no controls any more
  EXPECT_EQ(one_line(" two\nlines\t\x07 "), "two lines");
}

TEST(safe_result, messages_show_that_something_was_there) {
  EXPECT_EQ(printable("a\n\x1b[2J\xc2\x9b\x9b\x7f"), "a??[2J???");
  EXPECT_EQ(printable("gr\xc3\xbc\xc3\x9f"), "gr\xc3\xbc\xc3\x9f");
}

bool hostile(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f) return true;
    if (c >= 0x80 && c < 0xa0 && (i == 0 || static_cast<unsigned char>(text[i - 1]) == 0xc2)) return true;
  }
  return false;
}

TEST(safe_result, no_writer_lets_control_characters_through) {
  const std::string bad = "x\n\n\x1b]0;t\x07\0\xc2\x9b\n1\n"s;
  steno::result r;
  r.model = r.language = bad;
  r.duration = 2;
  steno::segment s;
  s.end = 2;
  s.text = bad + " " + bad;
  s.language = bad;
  s.speaker = bad;
  for (const double at : {0.0, 1.0})
    s.words.push_back({.text = bad, .start = at, .end = at + 1, .how = steno::timing::native, .space = " \x1b"});
  s.extra = {{bad, bad}, {"raw_text", bad}};
  s.alternatives = r.alternatives = {{bad, 1.0}};
  s.stop_reason = r.stop_reason = bad;
  r.windows = {{.start = 0, .end = 2, .outcome = bad, .stop_reason = bad}};
  r.segments = {s, s};
  for (const auto style : {steno::app::style::steno, steno::app::style::openai})
    for (const bool words : {false, true})
      for (const format f : {format::text, format::json, format::jsonl, format::srt, format::vtt, format::tsv}) {
        steno::app::writer w(f, false, {.style = style, .words = words});
        const std::string out = w.add("a\x1b\n.wav", r);
        SCOPED_TRACE(out);
        EXPECT_FALSE(hostile(out));
        if (f == format::json || f == format::jsonl) {
          EXPECT_EQ(out.find("\\u001b"), std::string::npos);
          EXPECT_EQ(out.find("\\u0000"), std::string::npos);
        }
        if (f == format::tsv) {
          EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), 3);
        }
        if (f != format::srt && f != format::vtt) continue;
        // Cues are parted by empty lines, and hold none.
        std::size_t cues = 0;
        for (std::size_t at = f == format::vtt ? 8 : 0; at < out.size(); ++cues) {
          const std::size_t end = out.find("\n\n", at);
          ASSERT_NE(end, std::string::npos);
          const std::string cue = out.substr(at, end - at);
          EXPECT_NE(cue.find("-->"), std::string::npos) << cue;
          at = end + 2;
        }
        EXPECT_GE(cues, 2u);
      }
}

}  // namespace safe_result_test

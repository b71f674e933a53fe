// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <gtest/gtest.h>

#include "text_width.hpp"

namespace progress_test {

using steno::app::bar_text;
using steno::app::duration_text;
using steno::app::reporter;

TEST(progress, durations) {
  EXPECT_EQ(duration_text(0), "0:00");
  EXPECT_EQ(duration_text(65.9), "1:05");
  EXPECT_EQ(duration_text(3723), "1:02:03");
  EXPECT_EQ(duration_text(-1), "0:00");
}

TEST(progress, bar_shows_file_part_time_and_speed) {
  EXPECT_EQ(bar_text({2, 5, "rec/talk.wav", 25, 100, 2.5}, 80),
            "[2/5] talk.wav [#####---------------]  25 %  0:02  10.0x  0:07 left");
  EXPECT_EQ(bar_text({1, 1, "talk.wav", 0, 0, 0}, 80), "[1/1] talk.wav  0:00");
  EXPECT_EQ(bar_text({1, 1, "a\tb.wav", 200, 100, 1}, 80), "[1/1] a?b.wav [####################] 100 %  0:01  200.0x");
}

TEST(progress, bar_fits_the_terminal) {
  for (int width = 1; width < 100; ++width)
    EXPECT_LE(steno::app::columns(
                  bar_text({12, 345, "a/rather/long/way/to/a_very_long_file_name_indeed.wav", 1, 3, 100}, width)),
              width);
  EXPECT_EQ(bar_text({1, 1, "a_very_long_file_name_indeed.wav", 0, 0, 0}, 24), "[1/1] ..indeed.wav  0:00");
}

class reporting : public testing::Test {
 protected:
  std::string said() {
    std::rewind(file);
    std::string text(4096, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), file));
    return text;
  }
  void TearDown() override { std::fclose(file); }
  std::FILE* file = std::tmpfile();
};

TEST_F(reporting, without_a_terminal_there_is_no_bar) {
  reporter r(file, false, reporter::detail::all);
  r.begin(1, 2, "a.wav");
  r.update(1, 2);
  r.end();
  r.summary(10, 2);
  EXPECT_EQ(said(), "steno: 10.0 s of audio in 2.0 s: 5.0x real time (real-time factor 0.200)\n");
}

TEST_F(reporting, progress_for_programs_is_json_anywhere) {
  reporter r(file, false, reporter::detail::errors_only);
  r.show_json();
  r.begin(1, 2, "a \"b\".wav");
  r.update(1, 2);  // a moment later: not said
  r.end();
  r.end();  // once
  std::string text = said();
  for (std::size_t at = 0; (at = text.find("\"elapsed\":", at)) != std::string::npos;) {
    at += 10;
    text.replace(at, text.find(',', at) - at, "T");
  }
  EXPECT_EQ(text, R"({"file":1,"files":2,"audio":"a \"b\".wav","seconds":0.0,"duration":null,"elapsed":T,"done":false})"
                  "\n"
                  R"({"file":1,"files":2,"audio":"a \"b\".wav","seconds":1.0,"duration":2.0,"elapsed":T,"done":true})"
                  "\n");
}

TEST_F(reporting, messages_are_one_line_without_control_characters) {
  reporter r(file, true, reporter::detail::all);
  r.begin(1, 2, "a.wav");  // no terminal, no bar
  r.error("bad\nfile\033[2J \xc2\x9b \x9b \x7f \xc3\xa9");
  r.end();
  EXPECT_EQ(said(), "steno: bad?file?[2J ? ? ? \xc3\xa9\n");
}

TEST_F(reporting, warnings_about_damage_are_always_said) {
  reporter r(file, false, reporter::detail::errors_only);
  r.warning("odd", false);
  r.warning("cut", true);
  EXPECT_EQ(said(), "steno: warning: cut\n");
}

TEST_F(reporting, quiet_leaves_errors) {
  reporter r(file, false, reporter::detail::errors_only);
  r.note("nothing");
  r.summary(1, 1);
  r.error("something");
  EXPECT_EQ(said(), "steno: something\n");
}

}  // namespace progress_test

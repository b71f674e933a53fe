// What a terminal shows when texts, messages and live lines meet.
// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include <fcntl.h>
#include <termios.h>

#include <stdexcept>

#include "support/terminal.hpp"

namespace screen_test {

using lines = std::vector<std::string>;

// A pseudo-terminal whose far end keeps what was written.
class terminal {
 public:
  explicit terminal(int width) : screen_(width) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(width);
    int device = -1;
    if (::openpty(&master_, &device, nullptr, nullptr, &size) != 0)
      throw std::runtime_error("no pseudo-terminal is to be had (is /dev/pts mounted?)");
    file = ::fdopen(device, "w");
    other = ::fdopen(::dup(device), "w");
    ::fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  ~terminal() {
    std::fclose(file);
    std::fclose(other);
    ::close(master_);
  }
  lines shown() {
    std::string all;
    char block[4096];
    for (ssize_t n = 0; (n = ::read(master_, block, sizeof block)) > 0;) all.append(block, static_cast<std::size_t>(n));
    screen_.feed(all);
    return screen_.lines();
  }
  std::FILE *file = nullptr, *other = nullptr;

 private:
  int master_ = -1;
  steno::test::screen_of screen_;
};

TEST(screen, text_grows_above_the_bar_whatever_its_width) {
  for (int width = 20; width <= 300; width += width < 90 ? 1 : 35) {
    SCOPED_TRACE(width);
    terminal t(width);
    std::string whole;
    {
      steno::app::screen s(t.file, t.other);
      for (int i = 0; i < 60; ++i) {
        s.bar("[1/1] talk.wav " + std::to_string(i));
        std::string word(i == 0 ? 0 : 1, ' ');
        word.append(static_cast<std::size_t>(i % 7), 'x').append(std::to_string(i));
        whole += word;
        EXPECT_TRUE(s.put(t.file, word));
      }
      s.bar("[1/1] the end");
      lines now = t.shown();
      ASSERT_FALSE(now.empty());
      EXPECT_EQ(now.back(), "[1/1] the end");
    }
    // A line that was full when the bar stood below it is two lines now.
    std::string shown;
    for (const std::string& line : t.shown()) shown += line;
    EXPECT_EQ(shown, whole);
  }
}

TEST(screen, wide_characters_are_counted_as_the_terminal_does) {
  terminal t(21);
  std::string whole;
  {
    steno::app::screen s(t.file, t.other);
    for (int i = 0; i < 40; ++i) {
      s.bar("bar");
      const std::string text = i % 3 == 0 ? "a" : "\xe6\x97\xa5\xe6\x9c\xac";
      whole += text;
      EXPECT_TRUE(s.put(t.file, text));
    }
  }
  std::string shown;
  for (const std::string& line : t.shown()) shown += line;
  EXPECT_EQ(shown, whole);
}

TEST(screen, a_partial_text_is_one_row_above_the_bar) {
  terminal t(20);
  steno::app::screen s(t.file, t.other);
  s.bar("[1/1] bar");
  for (int i = 0; i < 30; ++i) s.partial(std::string(static_cast<std::size_t>(10 * i), 'a') + "end");
  EXPECT_EQ(t.shown(), (lines{"aaaaaaaaaaaaaaaaend", "[1/1] bar"}));
  s.partial("");
  EXPECT_TRUE(s.put(t.file, "final text\n"));
  s.partial("next");
  s.message("steno: a message");
  EXPECT_EQ(t.shown(), (lines{"final text", "steno: a message", "next", "[1/1] bar"}));
}

TEST(screen, a_message_does_not_stick_to_an_unfinished_line) {
  terminal t(40);
  steno::app::screen s(t.file, t.other);
  EXPECT_TRUE(s.put(t.file, "half"));
  s.message("steno: warning");
  EXPECT_TRUE(s.put(t.file, "other half\n"));
  EXPECT_EQ(t.shown(), (lines{"half", "steno: warning", "other half"}));
}

TEST(screen, a_pipe_beside_a_terminal_gets_whole_lines_and_takes_the_bar_away) {
  terminal t(40);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  std::FILE* const pipe = ::fdopen(ends[1], "w");
  {
    steno::app::screen s(pipe, t.file);
    s.bar("bar");
    EXPECT_EQ(t.shown(), lines{"bar"});
    EXPECT_TRUE(s.put(pipe, "one\ntw"));
    EXPECT_EQ(t.shown(), lines{});
    char block[100];
    EXPECT_EQ(std::string(block, static_cast<std::size_t>(::read(ends[0], block, sizeof block))), "one\n");
    s.bar("bar");  // whoever reads may be writing now
    EXPECT_EQ(t.shown(), lines{});
    EXPECT_TRUE(s.put(pipe, "o\n"));
    EXPECT_EQ(std::string(block, static_cast<std::size_t>(::read(ends[0], block, sizeof block))), "two\n");
    EXPECT_TRUE(s.put(pipe, "unfinished"));
  }
  char block[100];
  EXPECT_EQ(std::string(block, static_cast<std::size_t>(::read(ends[0], block, sizeof block))), "unfinished");
  std::fclose(pipe);
  ::close(ends[0]);
}

TEST(screen, files_get_text_alone) {
  std::FILE *out = std::tmpfile(), *err = std::tmpfile();
  {
    steno::app::screen s(out, err);
    EXPECT_FALSE(s.shows_bar() || s.shows_partial());
    s.bar("bar");
    s.partial("partial");
    EXPECT_TRUE(s.put(out, "text"));
    s.message("message");
  }
  for (auto [file, expected] : {std::pair(out, std::string("text")), std::pair(err, std::string("message\n"))}) {
    std::rewind(file);
    char block[100];
    EXPECT_EQ(std::string(block, std::fread(block, 1, sizeof block, file)), expected);
    std::fclose(file);
  }
}

}  // namespace screen_test

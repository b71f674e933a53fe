// A log whose reader stalls, goes away or comes back.
// SPDX-License-Identifier: Apache-2.0
#include "line_log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <optional>
#include <string>

namespace line_log_test {

using steno::app::line_log;

// A pipe that holds one page, unless another size is asked for.
struct small_pipe {
  int ends[2] = {-1, -1};
  explicit small_pipe(int bytes = 4096) {
    EXPECT_EQ(::pipe(ends), 0);
    EXPECT_GE(::fcntl(ends[1], F_SETPIPE_SZ, bytes), bytes);
  }
  ~small_pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(int i) {
    if (ends[i] >= 0) ::close(ends[i]);
    ends[i] = -1;
  }
  // Up to and with the first appearance of `last`, or up to the end.
  std::string read(const std::string& last) const {
    std::string all;
    char c = 0;
    while ((last.empty() || all.find(last) == std::string::npos) && ::read(ends[0], &c, 1) == 1) all += c;
    return all;
  }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(line_log, writes_lines_without_control_characters) {
  small_pipe p;
  line_log log(p.ends[1]);
  log.say("one");
  log.say("two\nthree\x1b[2J");
  log.say(std::string(5000, 'x'));
  const std::string text = p.read("xxx\n");
  EXPECT_EQ(text.substr(0, 38), "steno: one\nsteno: two?three?[2J\nsteno:");
  EXPECT_EQ(count(text, "x"), 1000u);
  EXPECT_EQ(log.dropped(), 0u);
}

TEST(line_log, a_reader_that_stalls_stops_nobody_and_is_told_what_it_missed) {
  small_pipe p;
  std::optional<line_log> log(std::in_place, p.ends[1], 10);
  const std::string line(90, 'a');
  for (int i = 0; i < 1000; ++i) log->say(line);  // 97 kB; the pipe takes 4 and the queue 1
  const auto dropped = log->dropped();
  EXPECT_GT(dropped, 900u);
  // On a busy machine the queue has room now and then, and what was dropped is told in parts.
  std::uint64_t written = 0, told = 0;
  while (written + told < 1000) {
    const std::string one = p.read("\n");
    if (count(one, line) == 1)
      ++written;
    else
      told += std::stoull(one.substr(7));  // steno: N log lines were dropped: nobody read them
  }
  EXPECT_EQ(told, dropped);
  EXPECT_EQ(written, 1000 - dropped);
  log->say("again");
  EXPECT_EQ(p.read("again\n"), "steno: again\n");
}

TEST(line_log, the_end_does_not_wait_for_a_reader_that_stalls) {
  small_pipe p;
  const auto began = std::chrono::steady_clock::now();
  {
    line_log log(p.ends[1]);
    for (int i = 0; i < 1000; ++i) log.say(std::string(90, 'a'));
  }
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(30));
}

TEST(line_log, the_end_writes_what_is_left) {
  small_pipe p(65536);
  {
    line_log log(p.ends[1]);
    for (int i = 0; i < 30; ++i) log.say("line " + std::to_string(i));
  }
  p.close_end(1);
  const std::string text = p.read("");
  EXPECT_EQ(count(text, "\n"), 30u);
  EXPECT_NE(text.find("steno: line 29\n"), std::string::npos);
}

// Which would otherwise end the program by a signal.
TEST(line_log, a_reader_that_goes_away_ends_nothing) {
  small_pipe p;
  line_log log(p.ends[1], 10);
  log.say("read");
  EXPECT_EQ(p.read("\n"), "steno: read\n");
  p.close_end(0);
  for (int i = 0; i < 1000; ++i) log.say("unread");
  EXPECT_GT(log.dropped(), 900u);
}

}  // namespace line_log_test

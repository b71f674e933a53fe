// steno serve as a process: signals, a log that nobody reads, wrong usage.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "programs/run_program.hpp"
#include "programs/served.hpp"
#include "transcriber/websocket.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace steno_serve_test {

using steno::test::served;
using steno::test::websocket;

std::string audio(std::size_t samples) {
  std::string bytes;
  for (std::size_t i = 0; i < 2 * samples; ++i) bytes += static_cast<char>(i * i / 7 % 50);
  return bytes;
}
// All text messages up to the end of the connection.
std::string conversation(websocket& c) {
  c.text(R"({"signal": "start"})");
  c.frame(2, audio(16000));
  c.text(R"({"signal": "end"})");
  std::string all;
  while (const auto m = c.read()) {
    if (m->opcode == 8) break;
    all += m->data + "\n";
  }
  return all;
}
bool whole(const std::string& messages) {
  return messages.find("final_result") != std::string::npos && messages.find("speech_end") != std::string::npos;
}

TEST(steno_serve, a_log_that_nobody_reads_stops_nothing) {
  served s;
  for (int i = 0; i < 300; ++i) {
    websocket c(s.port());
    ASSERT_EQ(c.shake_hands("evil.example"), 403) << i;
  }
  websocket c(s.port());
  ASSERT_EQ(c.shake_hands(), 101);
  EXPECT_TRUE(whole(conversation(c)));
  s.signal(SIGTERM);
  EXPECT_EQ(s.wait(), 143);
}

// Writing to such a pipe ends a program that does not mind it.
TEST(steno_serve, a_log_whose_reader_went_away_stops_nothing) {
  served s;
  s.close_log();
  for (int i = 0; i < 3; ++i) {
    websocket c(s.port());
    ASSERT_EQ(c.shake_hands(), 101);
    EXPECT_TRUE(whole(conversation(c)));
  }
  s.signal(SIGINT);
  EXPECT_EQ(s.wait(), 130);
}

TEST(steno_serve, a_signal_ends_sessions_with_their_results) {
  served s;
  websocket c(s.port());
  ASSERT_EQ(c.shake_hands(), 101);
  c.text(R"({"signal": "start"})");
  c.frame(2, audio(16000));
  EXPECT_TRUE(c.read());  // it is at work
  s.signal(SIGTERM);
  std::string all;
  int code = 0;
  while (const auto m = c.read()) {
    all += m->data + "\n";
    if (m->opcode == 8) code = m->close_code();
    if (m->opcode == 8) break;
  }
  EXPECT_TRUE(whole(all)) << all;
  EXPECT_EQ(code, 1001);
  const std::string log = s.log_up_to("steno: stopped\n");
  EXPECT_NE(log.find("stopping; connections that are to end within 10 s: 1\n"), std::string::npos) << log;
  EXPECT_NE(log.find("steno: stopped\n"), std::string::npos) << log;
  EXPECT_EQ(s.wait(), 143);
}

TEST(steno_serve, a_second_signal_ends_at_once) {
  served s({"--drain-timeout", "86400", "--idle-timeout", "86400"});
  websocket c(s.port());
  ASSERT_EQ(c.shake_hands(), 101);
  const std::string large = audio(400000);
  c.text(R"({"signal": "start"})");
  for (int i = 0; i < 3; ++i) c.frame(2, large);  // much work, and nobody takes its results
  EXPECT_TRUE(c.read());
  s.signal(SIGINT);
  s.log_up_to("stopping;");
  s.signal(SIGTERM);
  EXPECT_EQ(s.wait(), 143);
}

// Each thread's stack is a gigabyte, and there is room for few.
TEST(steno_serve, goes_on_with_the_threads_that_can_be_had) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need their address space";
#endif
  served s({"--threads", "16"}, [] {
    const rlimit stack{1u << 30, 1u << 30}, space{rlim_t{6} << 30, rlim_t{6} << 30};
    if (::setrlimit(RLIMIT_STACK, &stack) != 0 || ::setrlimit(RLIMIT_AS, &space) != 0) ::_exit(97);
  });
  websocket c(s.port());
  ASSERT_EQ(c.shake_hands(), 101);
  EXPECT_TRUE(whole(conversation(c)));
  s.signal(SIGTERM);
  const std::string log = s.log_up_to("steno: stopped\n");
  EXPECT_EQ(s.wait(), 143);
  EXPECT_NE(log.find("threads that can be had: "), std::string::npos) << log;
}

// What memory is short for is lost: an answer, a session, a connection. The server is not.
TEST(steno_serve, short_memory_ends_sessions_and_not_the_server) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need their address space";
#endif
  int lost = 0, served_well = 0;
  for (int i = 0; i < 27; ++i) {
    served s({"--threads", "2"});
    EXPECT_EQ(websocket(s.port()).shake_hands("evil.example"), 403);  // its threads are there
    s.may_take(static_cast<rlim_t>(i * i) * 50'000);
    std::vector<std::thread> clients;
    std::atomic<int> well{0};
    for (int k = 0; k < 4; ++k)
      clients.emplace_back([&] {
        try {
          websocket c(s.port());
          if (c.shake_hands() == 101 && whole(conversation(c))) ++well;
        } catch (const std::runtime_error&) {  // not even accepted
        }
      });
    for (std::thread& t : clients) t.join();
    ++(well == 4 ? served_well : lost);
    s.may_take({});
    ASSERT_FALSE(s.ended()) << i << ": " << s.wait() << "\n" << s.log_up_to("");
    websocket c(s.port());
    ASSERT_EQ(c.shake_hands(), 101) << i;
    EXPECT_TRUE(whole(conversation(c))) << i;
    s.signal(SIGTERM);
    EXPECT_EQ(s.wait(), 143) << i;
  }
  EXPECT_GT(lost, 0);  // memory was short at all
  EXPECT_GT(served_well, 0);
}

TEST(steno_serve, wrong_usage_is_named) {
  const steno::test::temporary_directory dir;
  const std::string program = std::string("'") + STENO_PROGRAM + "' serve --demo u2 ";
  const std::pair<const char*, const char*> table[] = {
      {"--threads 999", "serve: --threads 999: at most "},
      {"--allow-origin example.org", "serve: --allow-origin example.org: expected SCHEME://HOST"},
      {"--max-per-peer 0", "--max-per-peer"},
      {"--drain-timeout -1", "--drain-timeout"}};
  for (const auto& [words, want] : table) {
    const auto r = steno::test::shell(dir, program + words);
    EXPECT_EQ(r.code, 2) << words;
    EXPECT_NE(r.err.find(want), std::string::npos) << r.err;
    EXPECT_EQ(r.err.find('\n'), r.err.size() - 1) << r.err;
  }
  const auto r = steno::test::shell(dir, program + "--port 0 --host 192.0.2.1");
  EXPECT_EQ(r.code, 1);
  EXPECT_NE(r.err.find("192.0.2.1:0: cannot listen"), std::string::npos) << r.err;
}

}  // namespace steno_serve_test

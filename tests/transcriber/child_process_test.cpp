// Small shell scripts stand for a decoder.
// SPDX-License-Identifier: Apache-2.0
#include "child_process.hpp"

#include <steno/error.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "ffmpeg.hpp"
#include "ffmpeg_log.hpp"
#include "support/golden.hpp"

namespace child_process_test {

namespace fs = std::filesystem;
using steno::app::byte_stream;
using steno::app::child_process;

class child : public testing::Test {
 protected:
  // Everything that it writes to its standard output.
  std::string run(const std::string& script, child_process::input from = {}) {
    child_process one("/bin/sh", {"-c", script}, std::move(from), listen);
    std::string all;
    std::uint8_t bytes[1000];
    while (const std::size_t n = one.read(bytes, sizeof bytes)) all.append(reinterpret_cast<const char*>(bytes), n);
    ending = one.wait();
    return all;
  }
  const child_process::listener listen = [this](std::string_view more) { told += more; };
  steno::test::temporary_directory dir;
  std::string told;
  child_process::ending ending;
};

TEST_F(child, says_what_it_writes_and_how_it_ends) {
  EXPECT_EQ(run("printf 'a b'; printf oh >&2; exit 3"), "a b");
  EXPECT_EQ(told, "oh");
  EXPECT_EQ(ending.code, 3);
  EXPECT_FALSE(ending.stuck);
  EXPECT_EQ(run("kill -TERM $$"), "");
  EXPECT_EQ(ending.code, 128 + SIGTERM);
}

// More than pipes hold, on all three at once.
TEST_F(child, full_pipes_do_not_block_each_other) {
  std::vector<std::uint8_t> begun(300000, 'x');
  int both[2];
  ASSERT_EQ(::pipe2(both, O_CLOEXEC), 0);
  std::thread writer([&] {
    const std::string more(1 << 20, 'y');
    for (std::size_t done = 0; done < more.size();) {
      const ssize_t n = ::write(both[1], more.data() + done, more.size() - done);
      if (n <= 0) break;
      done += static_cast<std::size_t>(n);
    }
    ::close(both[1]);
  });
  const std::string all = run("tee /dev/stderr", {.begun = begun, .rest = byte_stream(both[0], "a pipe")});
  writer.join();
  ::close(both[0]);
  EXPECT_EQ(all, std::string(300000, 'x') + std::string(1 << 20, 'y'));
  EXPECT_EQ(told.size(), all.size());
  EXPECT_EQ(ending.code, 0);
}

TEST_F(child, one_that_wants_no_more_is_no_failure) {
  std::vector<std::uint8_t> begun(1 << 20, 'x');
  EXPECT_EQ(run("head -c 3", {.begun = begun}), "xxx");
  EXPECT_EQ(ending.code, 0);
}

TEST_F(child, reads_an_open_file) {
  const std::string path = (dir.path() / "a").string();
  std::ofstream(path) << "0123456789";
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(file, 0);
  EXPECT_EQ(run("cat /dev/fd/0; exec < /dev/fd/0; cat", {.file = file}), "01234567890123456789");
  ::close(file);
}

// Neither files nor cores, no other descriptors, a process group of its own, and signals as a program expects them.
TEST_F(child, is_confined) {
  const int other = ::open("/dev/null", O_RDONLY);  // without O_CLOEXEC
  sigset_t blocked, before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  EXPECT_EQ(run("ls /proc/self/fd | tr '\\n' ' '"), "0 1 2 3 ");  // 3 is its own, of the folder
  EXPECT_EQ(run("kill -TERM $$; echo survived"), "");
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::close(other);
  EXPECT_EQ(run("cd '" + dir.path().string() + "'; { echo text > a; } 2> /dev/null; wc -c < a; ulimit -c"), "0\n0\n");
  EXPECT_EQ(run("test $(cut -d' ' -f5 /proc/$$/stat) = $$ && echo own"), "own\n");
  EXPECT_LE(std::stoll(run("ulimit -v")), 4 << 20);  // KiB
  ::setenv("FFREPORT", "file=/tmp/x", 1);
  EXPECT_EQ(run("echo \"$FFREPORT$AV_LOG_FORCE_NOCOLOR\""), "1\n");
  ::unsetenv("FFREPORT");
}

TEST_F(child, is_gone_when_it_is_not_wanted) {
  pid_t pid = 0;
  {
    child_process one("/bin/sh", {"-c", "echo $$; exec sleep 1000"}, {}, listen);
    std::uint8_t bytes[100];
    const std::size_t n = one.read(bytes, sizeof bytes);
    pid = std::stoi(std::string(reinterpret_cast<const char*>(bytes), n));
    EXPECT_EQ(::kill(pid, 0), 0);
  }
  EXPECT_EQ(::kill(pid, 0), -1);  // no zombie either
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(child, one_that_does_not_end_is_ended) {
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(run("exec >&-; exec 2>&-; exec sleep 1000"), "");
  EXPECT_TRUE(ending.stuck);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(60));
}

TEST_F(child, what_cannot_be_run_is_an_error) {
  EXPECT_THROW(child_process((dir.path() / "none").string(), {}, {}, listen), steno::error);
  const fs::path text = dir.path() / "text";
  std::ofstream(text) << "no program\n";
  EXPECT_THROW(child_process(text.string(), {}, {}, listen), steno::error);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(child, programs_are_found_in_absolute_folders_of_the_path) {
  const std::string before = std::getenv("PATH");
  const fs::path program = dir.path() / "steno-decoder";
  std::ofstream(program) << "#!/bin/sh\n";
  EXPECT_EQ(steno::app::find_program(program.string()), "");
  fs::permissions(program, fs::perms::owner_all);
  EXPECT_EQ(steno::app::find_program(program.string()), program.string());
  ::setenv("PATH", ("::.:/none:" + dir.path().string() + ":" + before).c_str(), 1);
  EXPECT_EQ(steno::app::find_program("steno-decoder"), program.string());
  const fs::path here = fs::current_path();
  fs::current_path(dir.path());
  ::setenv("PATH", ".::none", 1);
  EXPECT_EQ(steno::app::find_program("steno-decoder"), "");
  fs::current_path(here);
  ::setenv("PATH", before.c_str(), 1);
  EXPECT_FALSE(steno::app::has_ffmpeg("none"));
  EXPECT_EQ(steno::app::find_program(""), "");
}

TEST(ffmpeg_log, tells_errors_from_facts) {
  steno::app::ffmpeg_log log;
  for (const char* part : {"[info] Input #0, mov, from 'file:/dev/fd/0':\n[info]   Meta", "data:\n",
                           "[info]     title           : x\n[info]                     :   Duration: 09:00:00.00\n",
                           "[info]   Duration: 00:01:02.50, start: 0.000000, bitrate: 69 kb/s\n",
                           "[info]   Stream #0:0[0x1](und): Audio: aac\n[info] Output #0, wav, to 'pipe:1':\n",
                           "[info]   Stream #0:0: Audio: pcm_f32le\n"})
    log.add(part);
  EXPECT_EQ(log.errors(), 0);
  EXPECT_EQ(log.duration(), 62.5);
  EXPECT_TRUE(log.duration_is_of_sound());
  log.add("[mov,mp4 @ 0x55e2f37a5000] [warning] odd\r[mov,mp4 @ 0x1] [error] moov atom not found\n");
  EXPECT_EQ(log.text(), "moov atom not found");
  log.add("    Last message repeated 3 times\n[fatal] file:/dev/fd/0: Invalid data");
  log.end();
  EXPECT_EQ(log.errors(), 2);
  EXPECT_EQ(log.text(), "moov atom not found; Invalid data");
  steno::app::ffmpeg_log other;
  other.add("[info]   Duration: N/A\nffmpeg: error while loading shared libraries: libavdevice.so\n" +
            std::string(100000, 'x'));
  other.end();
  EXPECT_LT(other.duration(), 0);
  EXPECT_LT(other.text().size(), 2000u);
}

}  // namespace child_process_test

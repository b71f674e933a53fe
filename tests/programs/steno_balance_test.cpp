// Two servers behind HAProxy, with the configuration that is shipped: one that dies fails its own requests alone, and
// one that is renewed fails none.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <thread>

#include "programs/http_client.hpp"
#include "programs/run_program.hpp"
#include "programs/served.hpp"

namespace steno_balance_test {

using namespace steno::test;

const std::string audio = std::string(STENO_SOURCE_DIR) + "/examples/audio/train.wav";
const std::string said = "the train to paris leaves in seven minutes\n";

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// The recording, so many times; its header says that it goes on for ever, as that of a pipe does.
std::string long_recording(int times) {
  const std::string one = contents(audio);
  std::string all = one.substr(0, 44);
  for (const std::size_t at : {4u, 40u}) all.replace(at, 4, 4, '\xff');
  for (int i = 0; i < times; ++i) all += one.substr(44);
  return all;
}

int free_port() {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof any;
  EXPECT_EQ(::bind(fd, reinterpret_cast<sockaddr*>(&any), size), 0);
  EXPECT_EQ(::getsockname(fd, reinterpret_cast<sockaddr*>(&any), &size), 0);
  ::close(fd);
  return ntohs(any.sin_port);
}

class steno_balance : public testing::Test {
 protected:
  void SetUp() override {
    if (shell(dir, "PATH=$PATH:/usr/sbin command -v haproxy && command -v socat").code != 0)
      GTEST_SKIP() << "needs haproxy and socat";
    port = free_port();
    ports[0] = free_port();
    ports[1] = free_port();
    servers[0] = start(0);
    servers[1] = start(1);
    const std::string at = "127.0.0.1:";
    const std::string environment = "STENO_LISTEN=" + at + std::to_string(port) + " STENO_ONE=" + at +
                                    std::to_string(ports[0]) + " STENO_TWO=" + at + std::to_string(ports[1]) +
                                    " STENO_SOCKET=" + socket();
    const outcome o = shell(dir, environment + " PATH=$PATH:/usr/sbin haproxy -D -p haproxy.pid -f '" STENO_SOURCE_DIR
                                               "/tools/service/haproxy.cfg'");
    ASSERT_EQ(o.code, 0) << o.err;
    for (int i = 0; i < 200 && (sessions(0) < 0 || shell(dir, stat_of("$18 == \"UP\"") + " | grep -c :").out != "2\n");
         ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  void TearDown() override { shell(dir, "[ ! -e haproxy.pid ] || kill -9 $(cat haproxy.pid)"); }

  std::unique_ptr<served> start(int which) {
    return std::make_unique<served>(
        std::vector<std::string>{"--port", std::to_string(ports[which]), "--max-connections", "200"}, [] {},
        std::vector<std::string>{"--demo", "parakeet-tdt"});
  }
  std::string socket() const { return (dir.path() / "haproxy.sock").string(); }
  // Lines of the servers' figures.
  std::string stat_of(const std::string& condition) const {
    return "echo 'show stat' | socat - UNIX-CONNECT:" + socket() +
           " | awk -F, '$1 == \"steno\" && ($2 == \"one\" || $2 == \"two\") && (" + condition +
           ") { print $2 \":\" $5 }'";
  }
  // How many requests a server has now.
  int sessions(int which) const {
    const std::string lines = shell(dir, stat_of("1")).out;
    const std::size_t found = lines.find(which == 0 ? "one:" : "two:");
    return found == std::string::npos ? -1 : std::stoi(lines.substr(found + 4));
  }
  std::string request(int times = 1) const {
    return form().file(long_recording(times)).field("response_format", "text").post();
  }
  /// How often a recording is repeated that takes so many seconds, within limits: servers with sanitizers are slow.
  int times_of(double seconds, int least, int most) const {
    using clock = std::chrono::steady_clock;
    const auto before = clock::now();
    EXPECT_EQ(ask(port, request()).body, said);
    const double alone = std::chrono::duration<double>(clock::now() - before).count();
    return static_cast<int>(std::clamp(seconds / alone, 1.0 * least, 1.0 * most));
  }
  temporary_directory dir;
  int port = 0, ports[2] = {};
  std::unique_ptr<served> servers[2];
};

TEST_F(steno_balance, a_process_that_dies_fails_its_own_requests_alone) {
  const int count = 8, times = times_of(5, 4, 200);  // which goes on when its server dies: ten minutes of audio
  std::mutex lock;
  std::vector<http_answer> answers;
  std::vector<std::thread> clients;
  const std::string text = request(times);
  for (int i = 0; i < count; ++i)
    clients.emplace_back([&] {
      http_answer a = ask(port, text);
      const std::lock_guard<std::mutex> one(lock);
      answers.push_back(std::move(a));
    });
  for (int i = 0; i < 1200 && (sessions(0) < count / 2 || sessions(1) < count / 2); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const int its_own = sessions(0);
  EXPECT_GT(its_own, 0);
  EXPECT_EQ(its_own + sessions(1), count);
  servers[0]->signal(SIGKILL);
  servers[0]->wait();
  // Who comes now is served, whether HAProxy has noticed or not.
  for (int i = 0; i < 6; ++i) {
    const http_answer a = ask(port, request());
    EXPECT_EQ(a.status, 200) << a.body;
    EXPECT_EQ(a.body, said);
  }
  for (std::thread& c : clients) c.join();
  int failed = 0;
  for (const http_answer& a : answers) {
    if (a.status == 200)
      EXPECT_EQ(a.body.find(said.substr(0, said.size() - 1)), 0u) << a.body.substr(0, 100);
    else if (++failed > its_own)
      ADD_FAILURE() << a.status << " " << a.body;
  }
  EXPECT_EQ(answers.size(), static_cast<std::size_t>(count));
  EXPECT_EQ(failed, its_own);
}

TEST_F(steno_balance, a_rolling_restart_fails_none) {
  const int longer = times_of(0.1, 1, 4);
  std::atomic<bool> over{false};
  std::atomic<int> good{0}, bad{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; ++i)
    clients.emplace_back([&, i] {
      const std::string text = request(1 + longer * i);
      while (!over) {
        const http_answer a = ask(port, text);
        ++(a.status == 200 ? good : bad);
        EXPECT_EQ(a.status, 200) << a.body;
      }
    });
  const auto wait_for = [&](int more) {
    const int before = good;
    for (int i = 0; i < 6000 && good < before + more && bad == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
  };
  wait_for(6);
  for (int which = 0; which < 2; ++which) {
    // The command tells this test that the old process is to go, and waits for the new one.
    const temporary_directory between;
    std::thread renew([&] {
      const outcome o = shell(between, "'" STENO_SOURCE_DIR "/tools/service/restart' " + socket() + " steno/" +
                                           (which == 0 ? "one" : "two") +
                                           " sh -c 'touch go; while [ ! -e done ]; do sleep 0.02; done; rm go done'");
      EXPECT_EQ(o.code, 0) << o.err;
    });
    for (int i = 0; i < 6000 && !std::filesystem::exists(between.path() / "go"); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(sessions(which), 0);
    servers[which]->signal(SIGTERM);
    EXPECT_EQ(servers[which]->wait(), 128 + SIGTERM);
    wait_for(3);  // the other one does all
    servers[which] = start(which);
    std::ofstream(between.path() / "done") << "x";
    renew.join();
    wait_for(6);
  }
  // Both work.
  for (int i = 0; i < 400 && (sessions(0) == 0 || sessions(1) == 0); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  EXPECT_GT(sessions(0), 0);
  EXPECT_GT(sessions(1), 0);
  over = true;
  for (std::thread& c : clients) c.join();
  EXPECT_EQ(bad, 0);
  EXPECT_GT(good, 20);
}

}  // namespace steno_balance_test

// Clients that mean no good, of every protocol of the server: none harms another, whose session goes on meanwhile.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <nlohmann/json.hpp>

#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
#include <thread>

#include "programs/http_client.hpp"
#include "programs/realtime_client.hpp"
#include "programs/run_program.hpp"
#include "programs/served.hpp"

namespace steno_hostile_test {
namespace {

using namespace steno::test;
using nlohmann::json;

const std::string recording = std::string(STENO_SOURCE_DIR) + "/examples/audio/train.wav";
const std::string said = "the train to paris leaves in seven minutes";
const std::string handshake =
    "GET /v1/realtime HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

// A session that hears audio while something else happens, and ends well.
class bystander {
 public:
  explicit bystander(int port) : port_(port), session_(port) {
    session_.hear();
    const json input = {{"format", {{"type", "audio/pcm"}, {"rate", 16000}}}, {"turn_detection", nullptr}};
    session_.say({{"type", "session.update"}, {"session", {{"type", "transcription"}, {"audio", {{"input", input}}}}}});
    EXPECT_EQ(session_.hear()["type"], "session.updated");
    goes_on_ = std::jthread([this](const std::stop_token& stop) {
      const std::vector<std::int16_t> silence(1600);
      while (!stop.stop_requested()) {
        session_.append(silence);
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
      }
    });
  }
  void finish() {
    goes_on_.request_stop();
    goes_on_.join();
    session_.say({{"type", "input_audio_buffer.clear"}});
    session_.append_all(pcm_of(recording), 1600);
    session_.say({{"type", "input_audio_buffer.commit"}});
    const json done = session_.hear("conversation.item.input_audio_transcription.completed");
    ASSERT_FALSE(done.is_null());
    EXPECT_EQ(done["transcript"], said);
    EXPECT_EQ(ask(port_, "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status, 200);
  }

 private:
  const int port_;
  realtime_client session_;
  std::jthread goes_on_;
};

void send_raw(const websocket& ws, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(ws.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}
// A client's frame; the mask is all zeros.
std::string frame(int first, std::string_view data) {
  std::string whole(1, static_cast<char>(first));
  whole += static_cast<char>(0x80 | data.size());
  return whole.append(4, '\0').append(data);
}
std::string with_length(int first, std::uint64_t size) {
  std::string whole(1, static_cast<char>(first));
  whole += static_cast<char>(0xff);
  for (int i = 7; i >= 0; --i) whole += static_cast<char>(size >> (8 * i) & 0xff);
  return whole.append(4, '\0');
}

}  // namespace

TEST(steno_hostile, frames_of_every_wrong_kind) {
  const served s({"--idle-timeout", "3"}, [] {}, {"--demo", "parakeet-tdt"});
  bystander other(s.port());
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"a frame of 2^62 bytes", with_length(0x81, std::uint64_t{1} << 62)},
      {"a length with its highest bit", with_length(0x82, ~std::uint64_t{0})},
      {"more than a message may have", with_length(0x81, 2u << 20) + std::string(2u << 20, 'a')},
      {"no mask", std::string("\x81\x02hi")},
      {"an opcode that is none", frame(0x83, "x")},
      {"reserved bits, as if it was compressed", frame(0xc1, "x")},
      {"a continuation of nothing", frame(0x80, "x")},
      {"a ping in pieces", frame(0x09, "x")},
      {"a close frame of one byte", frame(0x88, "x")},
      {"text that is no UTF-8", frame(0x81, "{\"type\":\"\xff\xfe\"}")},
      {"half a frame", std::string("\x81\xfe\x10", 3)}};
  for (const auto& [what, bytes] : kinds) {
    realtime_client c(s.port());
    ASSERT_EQ(c.status, 101) << what;
    c.hear();
    send_raw(c.socket(), bytes);
    while (const auto m = c.socket().read())  // an error or a close frame, within the patience of the server
      if (m->opcode == 8) break;
  }
  {
    realtime_client c(s.port());  // one message in 20,000 pieces, whose end does not come
    c.hear();
    std::string pieces = frame(0x01, "{");
    for (int i = 0; i < 20000; ++i) pieces += frame(0x00, " ");
    send_raw(c.socket(), pieces);
    while (const auto m = c.socket().read())
      if (m->opcode == 8) break;
  }
  {
    realtime_client c(s.port());  // pings do not hold a place
    c.hear();
    const auto began = std::chrono::steady_clock::now();
    for (int i = 0; i < 200 && std::chrono::steady_clock::now() - began < std::chrono::seconds(20); ++i) {
      send_raw(c.socket(), frame(0x89, "ping"));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    while (const auto m = c.socket().read())
      if (m->opcode == 8) break;
    EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  }
  other.finish();
}

TEST(steno_hostile, headers_and_paths) {
  served s({"--idle-timeout", "2"}, [] {}, {"--demo", "parakeet-tdt"});
  bystander other(s.port());
  const auto status = [&](const std::string& request) { return ask(s.port(), request).status; };
  const std::string host = " HTTP/1.1\r\nHost: 127.0.0.1\r\n";
  EXPECT_EQ(status("GET /v1/models/../../../etc/passwd" + host + "\r\n"), 404);
  EXPECT_EQ(status("GET /v1/models/%2e%2e%2fetc%2fpasswd" + host + "\r\n"), 404);
  EXPECT_EQ(status("GET /v1/models/x%0d%0aSet-Cookie:%20a=b" + host + "\r\n"), 404);
  EXPECT_EQ(status("GET //v1/models" + host + "\r\n"), 404);
  EXPECT_EQ(status("GET /v1/models\x01" + host + "\r\n"), 400);
  EXPECT_EQ(status("GET /v1/models" + host + "X: a\r\n b\r\n\r\n"), 200);  // a line that goes on
  EXPECT_EQ(status("GET /v1/models" + host + "Content-Length: 1\r\nContent-Length: 2\r\n\r\n"), 400);
  EXPECT_EQ(status("GET /v1/models" + host + "X: " + std::string(9000, 'a') + "\r\n\r\n"), 431);
  EXPECT_EQ(status("POST /v1/audio/transcriptions" + host +
                   "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 99999999999999999999\r\n\r\n"),
            400);
  // A name, a field and a model that would be lines of a header or of the log.
  std::string text = form().file("RIFF").field("model", "x\r\nSet-Cookie: a=b").post();
  const http_answer a = ask(s.port(), text);
  EXPECT_EQ(a.status, 404) << a.body;
  EXPECT_EQ(a.fields.count("set-cookie"), 0u);
  EXPECT_EQ(status(handshake + "Sec-WebSocket-Protocol: realtime\r\nOrigin: http://evil.example\r\n\r\n"), 403);
  // Byte by byte: the header does not come.
  http_client slow(s.port());
  const auto began = std::chrono::steady_clock::now();
  for (const char c : std::string("GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: aaaaaaaaaaaaaaaaaaa")) {
    slow.send({&c, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  slow.read();
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20));
  other.finish();
  s.signal(SIGTERM);
  const std::string log = s.log_up_to("");
  EXPECT_EQ(log.find("Set-Cookie"), std::string::npos) << log;
  EXPECT_EQ(log.find("passwd"), std::string::npos) << log;
}

TEST(steno_hostile, two_thousand_connections) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  const rlimit before = files;
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 2200) GTEST_SKIP() << "a process may have " << files.rlim_cur << " descriptors";
  {
    const served s({"--max-connections", "40", "--idle-timeout", "5"}, [] {}, {"--demo", "parakeet-tdt"});
    bystander other(s.port());
    std::vector<std::unique_ptr<websocket>> many;
    for (int i = 0; i < 2000; ++i) {
      try {
        many.push_back(std::make_unique<websocket>(s.port()));
      } catch (const std::exception&) {  // the queue of the door is full for a moment
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
      if (i % 3 == 0 && !many.empty()) send_raw(*many.back(), handshake + "\r\n");
      if (i % 3 == 1 && !many.empty()) ::shutdown(many.back()->descriptor(), SHUT_WR);
    }
    EXPECT_GT(many.size(), 1900u);
    many.clear();
    for (int i = 0; i < 200; ++i) {  // until there is a place again
      if (ask(s.port(), "GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 200) break;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    other.finish();
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST(steno_hostile, who_does_not_read_or_does_not_end) {
  const served s({"--idle-timeout", "2"}, [] {}, {"--demo", "parakeet-tdt"});
  bystander other(s.port());
  // Events that are refused, and nobody reads the answers: the server stops reading, and then gives the client up.
  realtime_client deaf(s.port());
  const timeval quick{1, 0};
  ::setsockopt(deaf.socket().descriptor(), SOL_SOCKET, SO_SNDTIMEO, &quick, sizeof quick);
  const std::string wrong = frame(0x81, R"({"type":"response.create","event_id":"0123456789"})");
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += wrong;
  for (int i = 0; i < 100; ++i) send_raw(deaf.socket(), flood);
  // Audio that never becomes a turn, and a connection that is half closed in the middle of one.
  realtime_client half(s.port());
  half.hear();
  half.append(std::vector<std::int16_t>(24000, 0));
  ::shutdown(half.socket().descriptor(), SHUT_WR);
  EXPECT_TRUE(half.hear().is_null());
  other.finish();
}

}  // namespace steno_hostile_test

// The WebSocket server among strangers: who may connect, what holds a place, and how sessions end with the server.
// SPDX-License-Identifier: Apache-2.0
#include "audio.hpp"
#include "live.hpp"
#include "server.hpp"

#include <steno/error.hpp>

#include "support/golden.hpp"
#include "support/random.hpp"
#include "transcriber/websocket.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <future>
#include <nlohmann/json.hpp>
#include <thread>

namespace server_faults_test {

using nlohmann::json;
using namespace steno::app;
using steno::test::websocket;

const steno::transcriber& model() {
  static const steno::transcriber loaded((steno::test::compact() / "wenet" / "model.gguf").string());
  return loaded;
}
std::string example(const char* name) { return std::string(STENO_SOURCE_DIR) + "/examples/" + name; }

// A running server on a port of its own.
class running {
 public:
  explicit running(server_options o = {}, const steno::transcriber& m = model())
      : server_(m, adapted(std::move(o), m)),
        result_(std::async(std::launch::async, [this] { return server_.run(); })) {}
  ~running() { server_.stop(); }
  server* operator->() { return &server_; }
  int port() const { return server_.port(); }
  /// Until run() has returned.
  bool ended() const { return result_.wait_for(std::chrono::seconds(60)) == std::future_status::ready; }

 private:
  static server_options adapted(server_options o, const steno::transcriber& m) {
    o.port = 0;
    o.live.chunk_size = 4;
    if (m.supports_live("left_chunks")) o.live.left_chunks = 4;
    if (m.supports_live("hotword_score")) o.live.hotword_score = 30.0f;  // so that they make a difference
    return o;
  }
  server server_;
  std::future<int> result_;
};

std::vector<std::int16_t> noise(std::uint64_t seed, std::size_t n) {
  steno::test::random_numbers random(seed);
  std::vector<std::int16_t> pcm(n);
  for (std::size_t i = 0; i < n; ++i)
    pcm[i] = static_cast<std::int16_t>(random.uniform(-9000, 9000) *
                                       (0.1f + std::fabs(std::sin(static_cast<float>(i) / 9000))));
  return pcm;
}

// The sentences that the model gives without a server, best first.
std::vector<std::string> list_of(const std::vector<std::int16_t>& pcm, const std::vector<std::string>& hotwords = {}) {
  steno::session_options o;
  o.chunk_size = o.left_chunks = 4;
  o.continuous = false;
  o.hotwords.assign(hotwords.begin(), hotwords.end());
  o.hotword_score = 30.0f;
  std::vector<float> samples(pcm.begin(), pcm.end());
  for (float& v : samples) v /= 32768.0f;
  std::vector<std::string> list;
  const auto sink = [&](const steno::session_event& e) {
    if (!e.final()) return;
    list.clear();
    for (const auto& a : e.nbest) list.push_back(a.text);
  };
  steno::app::live_stream one(model(), o);
  one.push(samples, sink);
  one.finish(sink);
  return list;
}
std::string alone(const std::vector<std::int16_t>& pcm, const std::vector<std::string>& hotwords = {}) {
  return list_of(pcm, hotwords).at(0);
}

json next(websocket& c) {
  const auto m = c.read();
  return m && m->opcode == 1 ? json::parse(m->data) : json();
}
// What comes up to the end of the connection, and the code of its close frame.
struct rest {
  std::vector<json> messages;
  int code = 0;
  json last(const char* type) const {
    for (auto m = messages.rbegin(); m != messages.rend(); ++m)
      if (m->value("type", "") == type) return *m;
    return {};
  }
  std::string sentence() const {
    const json m = last("final_result");
    return m.is_null() ? "" : json::parse(m["nbest"].get<std::string>())[0]["sentence"].get<std::string>();
  }
};
rest all_of(websocket& c) {
  rest r;
  while (const auto m = c.read()) {
    if (m->opcode == 8) r.code = m->close_code();
    if (m->opcode == 8) break;
    r.messages.push_back(json::parse(m->data));
  }
  return r;
}
websocket started(int port, std::string_view start = R"({"signal": "start"})") {
  websocket c(port);
  EXPECT_EQ(c.shake_hands(), 101);
  c.text(start);
  EXPECT_EQ(next(c)["type"], "server_ready");
  return c;
}

TEST(server_faults, a_web_page_may_not_use_the_server) {
  server_options o;
  o.allow_origins = {"https://asr.example"};
  running s(o);
  const std::string own = "Origin: http://localhost:" + std::to_string(s.port()) + "\r\n";
  EXPECT_EQ(websocket(s.port()).shake_hands("localhost", own), 101);
  EXPECT_EQ(websocket(s.port()).shake_hands("localhost:1", "Origin: https://asr.example\r\n"), 101);
  std::string why;
  EXPECT_EQ(websocket(s.port()).shake_hands("localhost", "Origin: http://evil.example\r\n", &why), 403);
  EXPECT_EQ(why, "origin \"http://evil.example\" is not allowed (see --allow-origin)\n");
  EXPECT_EQ(websocket(s.port()).shake_hands("evil.example", "", &why), 403);
  EXPECT_EQ(why, "host \"evil.example\" is not this server's name (see --allow-origin)\n");
  EXPECT_EQ(websocket(s.port()).shake_hands("localhost", own + "Origin: http://evil.example\r\n"), 403);
  o.allow_origins = {"*"};
  const running open(o);
  EXPECT_EQ(websocket(open.port()).shake_hands("evil.example", "Origin: http://evil.example\r\n"), 101);
  o.allow_origins = {"asr.example"};
  EXPECT_THROW(server(model(), o), steno::error);
}

TEST(server_faults, what_is_no_handshake_is_answered) {
  running s;
  std::string body;
  EXPECT_EQ(websocket(s.port()).request("GET /none HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", &body),
            404);
  EXPECT_NE(body.find("WebSocket"), std::string::npos);
  EXPECT_EQ(websocket(s.port()).request("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(20000, 'x')), 431);
  EXPECT_EQ(websocket(s.port()).request("\x16\x03\x01 this is no HTTP\r\n\r\n"), 400);
}

TEST(server_faults, places_are_limited_in_all_and_per_peer) {
  server_options o;
  o.connections = 3;
  o.per_peer = 2;
  running s(o);
  std::string why;
  {
    websocket a(s.port()), b(s.port());
    EXPECT_EQ(a.shake_hands(), 101);
    EXPECT_EQ(b.shake_hands(), 101);
    EXPECT_EQ(websocket(s.port()).shake_hands("localhost", "", &why), 429);
    EXPECT_EQ(why, "all 2 connections of one address are taken\n");
    a.text("nonsense");  // so that its place is free again
    all_of(a);
    b.text("nonsense");
    all_of(b);
  }
  o.connections = 1;
  o.per_peer = 0;
  running one(o);
  websocket a(one.port());
  EXPECT_EQ(a.shake_hands(), 101);
  EXPECT_EQ(websocket(one.port()).shake_hands("localhost", "", &why), 503);
  EXPECT_EQ(why, "all 1 connections are taken\n");
}

TEST(server_faults, messages_without_audio_hold_no_place) {
  server_options o;
  o.idle_seconds = 1;
  running s(o);
  websocket c = started(s.port());
  std::atomic<bool> over{false};
  std::thread talk([&] {
    const std::int16_t sample = 1;
    for (int i = 0; !over; ++i) {  // empty, odd, one sample, a ping
      if (i % 4 == 0) c.binary({});
      if (i % 4 == 1) c.frame(2, "x");
      if (i % 4 == 2) c.binary({&sample, 1});
      if (i % 4 == 3) c.frame(9, "ping");
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  json last;
  while (const auto m = c.read()) {
    if (m->opcode == 8) break;
    last = json::parse(m->data);
  }
  over = true;
  talk.join();
  EXPECT_EQ(last, (json{{"status", "failed"}, {"message", "no audio for 1 s"}}));
}

TEST(server_faults, who_says_nothing_is_told_why_it_ends) {
  server_options o;
  o.idle_seconds = 1;
  running s(o);
  websocket silent(s.port());
  EXPECT_EQ(silent.shake_hands(), 101);
  const rest r = all_of(silent);
  ASSERT_EQ(r.messages.size(), 1u);
  EXPECT_EQ(r.messages[0]["message"], "no audio for 1 s");
  EXPECT_EQ(r.code, 1000);
  websocket never(s.port());  // shakes hands
  EXPECT_FALSE(never.read());
}

TEST(server_faults, a_start_that_fails_is_answered_once) {
  running s;
  websocket c(s.port());
  EXPECT_EQ(c.shake_hands(), 101);
  c.text(R"({"signal": "start", "hotwords": ["?"]})");
  const rest r = all_of(c);
  ASSERT_EQ(r.messages.size(), 1u);
  EXPECT_EQ(r.messages[0]["status"], "failed");
  EXPECT_NE(r.messages[0]["message"].get<std::string>().find("\"?\""), std::string::npos);
}

TEST(server_faults, keys_of_the_start_are_honoured_or_refused_by_name) {
  running s;
  const auto pcm = noise(3, 48000);
  std::string word;  // one that makes a difference
  for (const std::string& other : list_of(pcm)) {
    word = other;
    if (alone(pcm, {word}) != alone(pcm)) break;
  }
  ASSERT_NE(alone(pcm), alone(pcm, {word}));
  const std::string start = R"({"signal": "start", "sample_rate": 16000, "language": "auto", "hotwords": [")";
  websocket c = started(s.port(), start + word + "\"]}");
  c.binary(pcm);
  c.text(R"({"signal": "end"})");
  EXPECT_EQ(all_of(c).sentence(), alone(pcm, {word}));
  for (const char* key : {"\"sample_rate\": 8000", "\"language\": \"de\"", "\"itn\": true"}) {
    websocket other(s.port());
    EXPECT_EQ(other.shake_hands(), 101);
    other.text(std::string(R"({"signal": "start", )") + key + "}");
    const rest r = all_of(other);
    ASSERT_EQ(r.messages.size(), 1u) << key;
    const std::string name = std::string(key).substr(1, std::string(key).find(':') - 2);
    EXPECT_NE(r.messages[0]["message"].get<std::string>().find(name), std::string::npos) << key;
  }
}

TEST(server_faults, the_end_of_a_turn_is_told) {
  const steno::transcriber eou(example("models/parakeet-eou.gguf"));
  server_options o;
  running s(o, eou);
  audio_reader reader(example("audio/train.wav"), eou.sample_rate());
  std::vector<std::int16_t> pcm;
  for (const float v : read_all(reader)) pcm.push_back(static_cast<std::int16_t>(std::lround(v * 32767)));
  websocket c = started(s.port());
  c.binary(pcm);
  const rest r = all_of(c);  // the model ends it, without an end signal
  EXPECT_EQ(r.last("final_result")["endpoint"], "end_of_turn");
  EXPECT_EQ(r.last("speech_end")["endpoint"], "end_of_turn");
}

TEST(server_faults, a_server_that_drains_gives_every_session_its_result) {
  running s;
  const auto pcm = noise(7, 32000);
  websocket speaking = started(s.port()), waiting(s.port()), early(s.port());
  EXPECT_EQ(waiting.shake_hands(), 101);
  speaking.binary(pcm);
  EXPECT_FALSE(next(speaking).is_null());  // it is at work
  s->drain();
  const rest r = all_of(speaking);
  EXPECT_EQ(r.sentence(), alone(pcm));
  EXPECT_FALSE(r.last("speech_end").is_null());
  EXPECT_EQ(r.code, 1001);
  const rest w = all_of(waiting);
  EXPECT_EQ(w.messages.size(), 0u);
  EXPECT_EQ(w.code, 1001);
  EXPECT_FALSE(early.read());
  EXPECT_TRUE(s.ended());
  EXPECT_THROW(websocket(s.port()), std::exception);
}

TEST(server_faults, a_client_that_takes_nothing_does_not_stop_the_drain) {
  server_options o;
  o.drain_seconds = 1;
  running s(o);
  websocket deaf = started(s.port());
  s->drain();
  EXPECT_TRUE(s.ended());
}

TEST(server_faults, a_name_is_an_address) {
  server_options o;
  o.host = "localhost";
  running s(o);
  EXPECT_NE(s->addresses().find("127.0.0.1:" + std::to_string(s.port())), std::string::npos) << s->addresses();
  EXPECT_EQ(websocket(s.port()).shake_hands("localhost"), 101);
}

}  // namespace server_faults_test

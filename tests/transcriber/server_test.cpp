// The WebSocket server: many streams at once equal one alone, and what misbehaves harms no other.
// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"
#include "live.hpp"

#include <steno/error.hpp>

#include "support/golden.hpp"
#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

namespace server_test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using nlohmann::json;
using namespace steno::app;

const std::string model_path = (steno::test::compact() / "wenet" / "model.gguf").string();

const steno::transcriber& model() {
  static const steno::transcriber loaded(model_path);
  return loaded;
}

// A running server on a port of its own.
class running {
 public:
  explicit running(server_options o, const steno::transcriber& m = model())
      : server_(m, with_free_port(std::move(o))), thread_([this] { server_.run(); }) {}
  ~running() {
    server_.stop();
    thread_.join();
  }
  int port() const { return server_.port(); }

 private:
  static server_options with_free_port(server_options o) {
    o.port = 0;
    return o;
  }
  server server_;
  std::thread thread_;
};

server_options small(int threads = 2) {
  server_options o;
  o.threads = threads;
  o.live.chunk_size = 4;
  o.live.left_chunks = 4;
  return o;
}

std::vector<std::int16_t> noise(std::uint64_t seed, std::size_t n = 48000) {
  steno::test::random_numbers random(seed);
  std::vector<std::int16_t> pcm(n);
  for (std::size_t i = 0; i < n; ++i)
    pcm[i] = static_cast<std::int16_t>(random.uniform(-9000, 9000) *
                                       (0.1f + std::fabs(std::sin(static_cast<float>(i) / 9000))));
  return pcm;
}

// The sentence that the model gives without a server.
std::string alone(const std::vector<std::int16_t>& pcm) {
  steno::session_options r = small().live;
  r.continuous = false;
  std::vector<float> samples(pcm.begin(), pcm.end());
  for (float& v : samples) v /= 32768.0f;
  std::string text;
  const auto sink = [&](const steno::session_event& e) {
    if (e.final()) text = e.nbest[0].text;
  };
  steno::app::live_stream one(model(), r);
  one.push(samples, sink);
  one.finish(sink);
  return text;
}

class client {
 public:
  explicit client(int port) : ws_(io_) {
    ws_.next_layer().connect({asio::ip::make_address("127.0.0.1"), static_cast<unsigned short>(port)});
    ws_.handshake("127.0.0.1", "/");
  }
  void say(const std::string& text) {
    ws_.text(true);
    ws_.write(asio::buffer(text));
  }
  void send(std::span<const std::int16_t> pcm) {
    ws_.binary(true);
    ws_.write(asio::buffer(pcm.data(), pcm.size_bytes()));
  }
  /// The next message, or nothing when the connection is over.
  std::optional<json> hear() {
    beast::flat_buffer buffer;
    error_code e;
    ws_.read(buffer, e);
    if (e) return std::nullopt;
    return json::parse(beast::buffers_to_string(buffer.data()));
  }
  websocket::stream<tcp::socket>& stream() { return ws_; }

 private:
  asio::io_context io_;
  websocket::stream<tcp::socket> ws_;
};

struct heard {
  std::string sentence;
  int partials = 0, finals = 0;
  bool ended = false;
  json pieces;
};
heard converse(int port, const std::vector<std::int16_t>& pcm, std::size_t portion) {
  client c(port);
  c.say(R"({"signal": "start", "nbest": 2, "continuous_decoding": false})");
  heard h;
  const auto ready = c.hear();
  if (!ready || (*ready)["type"] != "server_ready") return h;
  for (std::size_t at = 0; at < pcm.size(); at += portion)
    c.send(std::span(pcm).subspan(at, std::min(portion, pcm.size() - at)));
  c.say(R"({"signal": "end"})");
  while (const auto m = c.hear()) {
    EXPECT_EQ((*m)["status"], "ok");
    if ((*m)["type"] == "speech_end") {
      h.ended = true;
      continue;
    }
    const json nbest = json::parse((*m)["nbest"].get<std::string>());
    if ((*m)["type"] == "partial_result") {
      ++h.partials;
      EXPECT_EQ(nbest.size(), 1u);
      EXPECT_FALSE(nbest[0].contains("word_pieces"));
    } else {
      ++h.finals;
      EXPECT_EQ(nbest.size(), 2u);
      h.sentence = nbest[0]["sentence"].get<std::string>();
      h.pieces = nbest[0]["word_pieces"];
    }
  }
  return h;
}

// True when the server ends the connection within ten seconds (in fact the idle time).
bool is_ended(client& c) {
  const auto began = std::chrono::steady_clock::now();
  while (c.hear()) {
  }
  return std::chrono::steady_clock::now() - began < std::chrono::seconds(10);
}
std::string complaint(client& c) {
  const auto m = c.hear();
  if (!m || (*m)["status"] != "failed") return "";
  return (*m)["message"].get<std::string>();
}

TEST(server, thirty_two_streams_at_once_equal_one_alone_whatever_others_do) {
  server_options o = small();
  o.idle_seconds = 3;
  const running s(o);
  std::vector<std::thread> clients;
  std::vector<heard> results(32);
  for (std::size_t i = 0; i < results.size(); ++i)
    clients.emplace_back([&, i] { results[i] = converse(s.port(), noise(i + 1), 1600 + 100 * i); });
  // Meanwhile: one that never speaks, one that never reads, one that vanishes, one that talks nonsense.
  {
    client silent(s.port()), deaf(s.port()), gone(s.port()), odd(s.port());
    silent.say(R"({"signal": "start"})");
    deaf.say(R"({"signal": "start", "continuous_decoding": true})");
    gone.say(R"({"signal": "start"})");
    const auto pcm = noise(99, 16000);
    for (int i = 0; i < 3; ++i) deaf.send(pcm);
    gone.send(pcm);
    gone.stream().next_layer().close();
    odd.say("\x01 not json");
    EXPECT_TRUE(is_ended(odd));
    EXPECT_TRUE(is_ended(silent));
  }
  for (std::thread& t : clients) t.join();
  std::size_t words = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_TRUE(results[i].ended) << i;
    EXPECT_EQ(results[i].finals, 1) << i;
    EXPECT_EQ(results[i].sentence, alone(noise(i + 1))) << i;
    words += results[i].pieces.size();
  }
  EXPECT_GT(words, 32u);
}

// Whose session has no endpoints, and nothing to tell when it heard nothing.
TEST(server, the_end_of_speech_is_told_by_other_families_too) {
  const steno::transcriber qwen((steno::test::compact() / "qwen3_asr" / "model.gguf").string());
  server_options o = small(1);
  o.live.left_chunks.reset();  // of no use to it
  const running s(o, qwen);
  for (const std::size_t n : {std::size_t{16000}, std::size_t{0}}) {
    client c(s.port());
    c.say(R"({"signal": "start"})");
    EXPECT_TRUE(c.hear());
    if (n > 0) c.send(noise(5, n));
    c.say(R"({"signal": "end"})");
    std::vector<std::string> types;
    while (types.size() < 20) {
      const auto m = c.hear();
      if (!m) break;
      types.push_back((*m)["type"].get<std::string>());
    }
    ASSERT_GE(types.size(), 2u);
    EXPECT_EQ(types.back(), "speech_end");
    EXPECT_EQ(std::count(types.begin(), types.end(), "final_result"), 1);
  }
}

TEST(server, what_is_not_in_the_protocol_is_answered_and_ends_the_connection) {
  const running s(small(1));
  const std::pair<const char*, const char*> messages[] = {
      {"[]", "Wrong protocol"},
      {"{", "Wrong protocol"},
      {"{}", "Wrong message header"},
      {R"({"signal": 3})", "Wrong message header"},
      {R"({"signal": "stop"})", "Unexpected signal type"},
      {R"({"signal": "end"})", "Start signal is expected before the end"},
      {R"({"signal": "start", "nbest": "many"})", "integer is expected for nbest option"},
      {R"({"signal": "start", "continuous_decoding": 1})",
       "boolean true or false is expected for continuous_decoding option"}};
  for (const auto& [text, want] : messages) {
    client c(s.port());
    c.say(text);
    EXPECT_EQ(complaint(c), want) << text;
    EXPECT_FALSE(c.hear()) << text;
  }
  client early(s.port());
  early.send(noise(1, 100));
  EXPECT_EQ(complaint(early), "Start signal is expected before binary data");
  client twice(s.port());
  twice.say(R"({"signal": "start"})");
  EXPECT_TRUE(twice.hear());
  twice.say(R"({"signal": "start"})");
  EXPECT_EQ(complaint(twice), "Speech has started already");
  EXPECT_TRUE(converse(s.port(), noise(2), 4000).ended);  // and the server still serves
}

TEST(server, messages_and_connections_are_limited) {
  server_options o = small(1);
  o.message_bytes = 2000;
  o.connections = 2;
  const running s(o);
  {
    client large(s.port());
    large.say(R"({"signal": "start"})");
    EXPECT_TRUE(large.hear());
    large.send(noise(1, 1001));
    EXPECT_TRUE(is_ended(large));
  }
  std::optional<client> a, b;
  for (auto* c : {&a, &b})  // the connection before may still be closing
    for (int attempt = 0; attempt < 100 && !*c; ++attempt) {
      try {
        c->emplace(s.port());
      } catch (const std::exception&) {
        c->reset();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
    }
  ASSERT_TRUE(a && b);
  EXPECT_THROW(client(s.port()), std::exception);
  a->say(R"({"signal": "start"})");
  EXPECT_TRUE(a->hear());
}

TEST(server, an_address_that_cannot_be_had_is_named) {
  const running s(small(1));
  server_options o = small(1);
  o.port = s.port();
  EXPECT_THROW(server(model(), o), steno::error);
  o.host = "nowhere";
  EXPECT_THROW(server(model(), o), steno::error);
  o = small(1);
  o.port = 0;
  o.live.hotwords = {"u3", "?"};
  EXPECT_THROW(server(model(), o), steno::error);
}

}  // namespace server_test

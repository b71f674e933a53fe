// SPDX-License-Identifier: Apache-2.0
#include "connection.hpp"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/websocket/stream.hpp>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "farewell.hpp"
#include "http_connection.hpp"
#include "http_routes.hpp"
#include "json_builder.hpp"
#include "realtime_session.hpp"
#include "wenet_session.hpp"

namespace steno::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
namespace websocket = beast::websocket;
using boost::system::error_code;
using clock = std::chrono::steady_clock;
using tcp = asio::ip::tcp;

std::string text_of(const tcp::endpoint& e) {
  const std::string address = e.address().to_string();
  return (e.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(e.port());
}

peer peer_of(const asio::ip::address& a) {
  if (a.is_v4()) return peer(a.to_v4().to_bytes());
  return peer(a.to_v6().to_bytes());
}

// All of a connection's handlers run on one thread.
class connection final : public drainable, public live_host, public std::enable_shared_from_this<connection> {
 public:
  connection(client_socket socket, const tcp::endpoint& from, std::unique_ptr<seat> place,
             std::shared_ptr<const char> share, server_hall& hall)
      : hall_(hall),
        from_(text_of(from)),
        share_(std::move(share)),
        place_(std::move(place)),
        patience_(std::chrono::seconds(hall.options.idle_seconds)),
        ws_(std::move(socket)),
        deadline_(ws_.get_executor()) {}
  ~connection() {
    place_.reset();
    if (accepted_) {
      hall_.counts.session_ended(talk_->audio_seconds());
      tell("left, milliseconds of audio: ", std::to_string(std::llround(talk_->audio_seconds() * 1000)).c_str());
    }
    hall_.remove(*this);
  }

  void start() {
    asio::dispatch(ws_.get_executor(), [self = shared_from_this()] { self->step([&] { self->read_request(); }); });
  }
  std::function<void()> waker() override {
    return [self = shared_from_this()] {
      asio::post(self->ws_.get_executor(), [self] {
        self->talk_->waiting = false;
        self->step([&] { self->proceed(); });
      });
    };
  }
  void drain() override {
    asio::post(ws_.get_executor(), [self = shared_from_this()] { self->step([&] { self->begin_drain(); }); });
  }

 private:
  // The client's time. It may keep the server waiting for `patience_` in all, until it makes progress: messages without
  // audio do not hold a place.
  void wait() {
    since_ = clock::now();
    deadline_.expires_at(since_ + std::max(clock::duration::zero(), patience_ - waited_));
    deadline_.async_wait([weak = weak_from_this(), turn = ++turn_](error_code e) {
      const auto self = weak.lock();
      if (!e && self && turn == self->turn_) self->step([&] { self->expired(); });
    });
  }
  void came() {
    ++turn_;
    waited_ += clock::now() - since_;
    deadline_.cancel();
  }
  void begin_drain() {
    draining_ = true;
    if (!accepted_) return cut();
    if (reading_ && !talk_->over) proceed();  // otherwise it comes there by itself
  }
  // A handler. What cannot be answered ends the connection: most likely memory is short, and an answer needs some.
  template <class F>
  void step(F&& f) {
    try {
      f();
    } catch (const std::exception& e) {
      cut();
      tell("cut off: ", e.what());
    }
  }
  void tell(const char* what, const char* more) noexcept {
    try {
      hall_.say(from_ + " " + what + more);
    } catch (const std::exception&) {  // then without a word
    }
  }
  void progressed() { waited_ = clock::duration::zero(); }
  void expired() {
    if (!reading_ || talk_->over) return cut();
    talk_->refuse("no audio for " + std::to_string(hall_.options.idle_seconds) + " s");
    proceed();
  }
  // Ends everything that is under way.
  void cut() {
    error_code ignored;
    ws_.next_layer().close(ignored);
  }

  void read_request() {
    parser_ = std::make_unique<http_header_parser>();
    prepare_header(*parser_);
    wait();
    http::async_read_header(
        ws_.next_layer(), buffer_, *parser_, [self = shared_from_this()](error_code e, std::size_t) {
          self->came();
          const bool no_request = e.category() == make_error_code(http::error::bad_version).category();
          if (!e || (no_request && e != http::error::end_of_stream)) self->step([&] { self->shake_hands(e); });
        });
  }

  void shake_hands(error_code e) {
    const auto& request = parser_->get();
    if (e || !websocket::is_upgrade(request))
      return begin_http({std::move(ws_.next_layer()), from_, std::move(place_), std::move(share_)}, hall_,
                        std::move(parser_), buffer_, e);
    const auto facts = facts_of(ws_.next_layer(), *parser_);
    if (!facts) return;
    const std::string why = refusal(hall_.access, *facts);
    if (!why.empty()) return turn_away("403 Forbidden", why);
    if (!has_key(hall_, *parser_)) return turn_away("401 Unauthorized\r\nWWW-Authenticate: Bearer", "a key is needed");
    if (hall_.counts.sessions() >= static_cast<std::uint64_t>(hall_.options.sessions))
      return turn_away("503 Service Unavailable\r\nRetry-After: 5",
                       std::to_string(hall_.options.sessions) + " sessions are open");
    if (const int wait_for = hall_.rates.take(client_of(hall_, *parser_, from_)); wait_for > 0)
      return turn_away("429 Too Many Requests\r\nRetry-After: " + std::to_string(wait_for), rate_message(hall_));
    if (buffer_.size() > 0) return turn_away("400 Bad Request", "data before the answer to the handshake");
    begin_talk(request);
    ws_.read_message_max(static_cast<std::size_t>(hall_.options.message_bytes));
    wait();
    ws_.async_accept(request, [self = shared_from_this()](error_code failed) {
      self->came();
      if (failed) return;
      self->parser_.reset();
      self->accepted_ = true;
      self->hall_.counts.session_began();
      self->progressed();
      self->step([&] { self->proceed(); });
    });
  }
  // The path says which protocol it is; that of OpenAI is named in the answer where the client offers it.
  void begin_talk(const http_header_parser::value_type& request) {
    const std::string_view target(request.target().data(), request.target().size());
    if (route_of(target).to != endpoint::realtime) {
      talk_ = start_wenet_session(hall_, *this);
      return;
    }
    const offered_protocols offered(*parser_);
    const auto beta = request["OpenAI-Beta"];
    talk_ = start_realtime_session(
        hall_, *this, {.target = std::string(target), .beta = offered.beta || beast::iequals(beta, "realtime=v1")});
    if (offered.realtime)
      ws_.set_option(websocket::stream_base::decorator(
          [](websocket::response_type& answer) { answer.set(http::field::sec_websocket_protocol, "realtime"); }));
  }
  void turn_away(std::string_view status, const std::string& why) {
    hall_.say(from_ + " refused: " + why);
    say_farewell(std::move(ws_.next_layer()), status, why);
  }

  void read() {
    wait();
    buffer_.clear();
    if (buffer_.capacity() > usual_message) buffer_.shrink_to_fit();  // the longest message is not the usual one
    reading_ = true;
    ws_.async_read(buffer_, [self = shared_from_this()](error_code e, std::size_t) {
      self->reading_ = false;
      if (self->talk_->over || self->ended_) return;  // answers are under way, and nobody waits for this any more
      self->came();
      if (!e) self->step([&] { self->received(); });
    });
  }

  void received() {
    const auto* bytes = static_cast<const unsigned char*>(buffer_.data().data());
    if (ws_.got_text())
      talk_->text({reinterpret_cast<const char*>(bytes), buffer_.size()});
    else
      talk_->bytes({bytes, buffer_.size()});
    proceed();
  }

  // The next step: answers first, then a slice of the work, then the next message.
  void proceed() {
    if (std::exchange(talk_->progressed, false)) progressed();
    for (; !talk_->said.empty(); talk_->said.pop_front())
      hall_.say(from_ + " said: " + json_builder().text(talk_->said.front()).str());
    if (!talk_->failed.empty()) {
      hall_.say(from_ + " failed: " + std::exchange(talk_->failed, {}));
      progressed();
      patience_ = std::min<clock::duration>(patience_, goodbye);
    }
    if (!talk_->out.empty()) return write();
    if (talk_->over) return close();
    if (talk_->waiting) return;
    if (draining_ && !std::exchange(ended_, true)) talk_->end();
    if (!talk_->proceed()) return read();
    if (talk_->waiting && talk_->out.empty()) return;
    asio::post(ws_.get_executor(), [self = shared_from_this()] { self->step([&] { self->proceed(); }); });
  }

  void write() {
    wait();
    ws_.text(true);
    ws_.async_write(asio::buffer(talk_->out.front()), [self = shared_from_this()](error_code e, std::size_t) {
      self->came();
      if (e) return;
      self->talk_->out.pop_front();
      self->step([&] { self->proceed(); });
    });
  }

  void close() {
    progressed();
    patience_ = std::min<clock::duration>(patience_, goodbye);
    wait();
    const auto code = draining_ ? websocket::close_code::going_away : websocket::close_code::normal;
    ws_.async_close(code, [self = shared_from_this()](error_code) { self->came(); });
  }

  static constexpr std::size_t usual_message = 65536;
  static constexpr std::chrono::seconds goodbye{2};  // for the last words

  server_hall& hall_;
  const std::string from_;
  std::shared_ptr<const char> share_;
  std::unique_ptr<seat> place_;
  clock::duration patience_;
  websocket::stream<client_socket, false> ws_;
  client_timer deadline_;
  clock::time_point since_;
  clock::duration waited_{};
  unsigned turn_ = 0;  // of waiting: what belongs to one before has no effect
  beast::flat_buffer buffer_;
  std::unique_ptr<http_header_parser> parser_;
  std::unique_ptr<live_protocol> talk_;
  bool accepted_ = false, reading_ = false, ended_ = false, draining_ = false;
};

}  // namespace

void begin_connection(client_socket socket, std::shared_ptr<const char> share, server_hall& hall) {
  error_code e;
  const tcp::endpoint from = socket.remote_endpoint(e);
  if (e) return;  // gone already
  const peer who = peer_of(from.address());
  const std::string full = hall.seats.enter(who);
  if (!full.empty()) {
    hall.say(text_of(from) + " refused: " + full);
    const bool all = hall.seats.taken() >= hall.options.connections;
    return say_farewell(std::move(socket), all ? "503 Service Unavailable" : "429 Too Many Requests", full);
  }
  std::unique_ptr<seat> place;
  try {
    place = std::make_unique<seat>(hall.seats, who);
  } catch (const std::exception&) {
    hall.seats.leave(who);
    throw;
  }
  const auto made = std::make_shared<connection>(std::move(socket), from, std::move(place), std::move(share), hall);
  hall.add(made);
  made->start();
}

}  // namespace steno::app

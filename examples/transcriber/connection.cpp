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
#include <cstdint>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "farewell.hpp"
#include "http_connection.hpp"
#include "live.hpp"
#include "wenet_protocol.hpp"

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
class connection final : public drainable, public std::enable_shared_from_this<connection> {
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
      hall_.counts.session_ended(static_cast<double>(samples_) / hall_.model.sample_rate());
      tell("left, milliseconds of audio: ", std::to_string(samples_ / 16).c_str());
    }
    hall_.remove(*this);
  }

  void start() {
    asio::dispatch(ws_.get_executor(), [self = shared_from_this()] { self->step([&] { self->read_request(); }); });
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
    if (reading_ && !ending_ && !closing_) proceed();  // otherwise it comes there by itself
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
    if (!reading_ || closing_) return cut();
    refuse("no audio for " + std::to_string(hall_.options.idle_seconds) + " s");
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
    if (buffer_.size() > 0) return turn_away("400 Bad Request", "data before the answer to the handshake");
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
  void turn_away(std::string_view status, const std::string& why) {
    hall_.say(from_ + " refused: " + why);
    say_farewell(std::move(ws_.next_layer()), status, why);
  }

  void read() {
    wait();
    buffer_.clear();
    reading_ = true;
    ws_.async_read(buffer_, [self = shared_from_this()](error_code e, std::size_t) {
      self->reading_ = false;
      if (self->closing_ || self->ending_) return;  // answers are under way, and nobody waits for this any more
      self->came();
      if (!e) self->step([&] { self->received(); });
    });
  }

  void received() {
    if (ws_.got_text()) {
      command({static_cast<const char*>(buffer_.data().data()), buffer_.size()});
    } else if (!stream_) {
      refuse("Start signal is expected before binary data");
    } else {
      take_samples();
    }
    proceed();
  }

  void command(const std::string& text) {
    const client_signal signal = read_signal(text, hall_.options.live, hall_.model.sample_rate());
    if (!signal.refused.empty()) return refuse(signal.refused);
    progressed();  // there is one beginning and one end
    if (!signal.start) {
      ending_ = true;
      if (!stream_) refuse("Start signal is expected before the end");
      return;
    }
    if (stream_) return refuse("Speech has started already");
    nbest_ = signal.nbest;
    if (guarded([&] { stream_.emplace(hall_.model, signal.live, hall_.options.beside); }))
      out_.push_back(ready_message());
  }

  void take_samples() {
    const auto* bytes = static_cast<const unsigned char*>(buffer_.data().data());
    const std::size_t n = buffer_.size() / 2;  // an odd byte at the end is no sample
    if (!guarded([&] { pcm_.resize(n); })) return;
    at_ = 0;
    samples_ += n;
    fresh_ += n;
    if (fresh_ >= static_cast<std::size_t>(hall_.model.sample_rate()) / 10) {
      progressed();
      fresh_ = 0;
    }
    for (std::size_t i = 0; i < n; ++i) {
      const auto bits = static_cast<std::uint16_t>(bytes[2 * i] | bytes[2 * i + 1] << 8);
      std::int16_t value;
      std::memcpy(&value, &bits, sizeof value);
      pcm_[i] = static_cast<float>(value) / 32768.0f;
    }
  }

  // The next step: answers first, then a slice of audio, then the end, then the next message.
  void proceed() {
    if (!out_.empty()) return write();
    if (closing_) return close();
    const auto sink = [this](const session_event& e) {
      endpoint_ = e.endpoint;
      if (e.final() || !e.utterance.text.empty())
        out_.push_back(result_message(e, nbest_, hall_.model.model_name().starts_with("u2_")));
    };
    constexpr std::size_t slice = 8000;
    if (at_ < pcm_.size()) {
      const auto piece = std::span(pcm_).subspan(at_, std::min(slice, pcm_.size() - at_));
      at_ += piece.size();
      guarded([&] { stream_->push(piece, sink); });
    } else if (ending_ || draining_) {
      ending_ = true;
      endpoint_ = endpoint_kind::none;
      if (stream_)
        guarded([&] { stream_->finish(sink); });
      else
        closing_ = true;  // nothing was said
    } else {
      return read();
    }
    if (!closing_ && stream_->over()) {
      out_.push_back(speech_end_message(endpoint_));
      closing_ = true;
    }
    asio::post(ws_.get_executor(), [self = shared_from_this()] { self->step([&] { self->proceed(); }); });
  }

  void write() {
    wait();
    ws_.text(true);
    ws_.async_write(asio::buffer(out_.front()), [self = shared_from_this()](error_code e, std::size_t) {
      self->came();
      if (e) return;
      self->out_.pop_front();
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

  void refuse(const std::string& why) {
    stream_.reset();  // its memory first: the answer needs some
    pcm_ = {};
    at_ = 0;
    closing_ = true;
    progressed();
    patience_ = std::min<clock::duration>(patience_, goodbye);
    out_.push_back(failed_message(why));
    hall_.say(from_ + " failed: " + why);
  }
  // Out of memory, or a thread that cannot be had, ends this connection and no other.
  template <class F>
  bool guarded(F&& f) {
    try {
      f();
      return true;
    } catch (const std::bad_alloc&) {
      refuse("out of memory");
    } catch (const std::exception& e) {
      refuse(e.what());
    }
    return false;
  }

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
  std::optional<live_stream> stream_;
  std::deque<std::string> out_;
  std::vector<float> pcm_;
  std::size_t at_ = 0, nbest_ = 1, samples_ = 0, fresh_ = 0;
  endpoint_kind endpoint_ = endpoint_kind::none;  // of the last event
  bool accepted_ = false, reading_ = false, ending_ = false, closing_ = false, draining_ = false;
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

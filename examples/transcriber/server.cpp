#include "server.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <atomic>
#include <boost/asio.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <cstring>
#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace steno::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using json = nlohmann::ordered_json;

std::string text_of(const json& j) { return j.dump(-1, ' ', false, json::error_handler_t::replace); }

std::string result_text(const session_event& e, std::size_t most) {
  const bool final = e.final();
  json list = json::array();
  for (const auto& a : e.nbest) {
    if (list.size() == most) break;
    json entry{{"sentence", a.text}};
    if (final) {
      entry["word_pieces"] = json::array();
      for (const auto& p : a.pieces)
        entry["word_pieces"].push_back({{"word", p.text}, {"start", p.start_ms}, {"end", p.end_ms}});
    }
    list.push_back(std::move(entry));
  }
  return text_of({{"status", "ok"}, {"type", final ? "final_result" : "partial_result"}, {"nbest", text_of(list)}});
}

// What connections share.
struct shared_part {
  const live_model& model;
  const server_options& options;
  const std::function<void(const std::string&)>& log;
  std::atomic<int> open{0};
};

// All of a connection's handlers run on its own strand, one at a time.
class connection : public std::enable_shared_from_this<connection> {
 public:
  connection(tcp::socket socket, shared_part& shared)
      : shared_(shared), ws_(std::move(socket)), deadline_(ws_.get_executor()) {
    ++shared_.open;
  }
  ~connection() {
    --shared_.open;
    if (shared_.log) shared_.log("connection closed after " + std::to_string(samples_ / 16) + " ms of audio");
  }

  void start() {
    asio::dispatch(ws_.get_executor(), [self = shared_from_this()] { self->shake_hands(); });
  }

 private:
  void shake_hands() {
    ws_.read_message_max(static_cast<std::size_t>(shared_.options.message_bytes));
    arm();
    ws_.async_accept([self = shared_from_this()](error_code e) {
      if (!e) self->read();
    });
  }

  // Whatever is awaited must come within the idle time; otherwise the socket is closed, which ends everything.
  void arm() {
    deadline_.expires_after(std::chrono::seconds(shared_.options.idle_seconds));
    deadline_.async_wait([weak = weak_from_this()](error_code e) {
      const auto self = weak.lock();
      error_code ignored;
      if (!e && self) self->ws_.next_layer().close(ignored);
    });
  }

  void read() {
    arm();
    buffer_.clear();
    ws_.async_read(buffer_, [self = shared_from_this()](error_code e, std::size_t) {
      if (!e) self->received();
    });
  }

  void received() {
    if (ws_.got_text()) {
      command(beast::buffers_to_string(buffer_.data()));
    } else if (!listener_) {
      refuse("Start signal is expected before binary data");
    } else {
      take_samples();
    }
    proceed();
  }

  void command(const std::string& text) {
    const json j = json::parse(text, nullptr, false);
    if (!j.is_object()) return refuse("Wrong protocol");
    const auto signal = j.find("signal");
    if (signal == j.end() || !signal->is_string()) return refuse("Wrong message header");
    if (*signal == "end") {
      ending_ = true;
      if (!listener_) refuse("Start signal is expected before the end");
      return;
    }
    if (*signal != "start") return refuse("Unexpected signal type");
    if (listener_) return refuse("Speech has started already");
    if (const auto n = j.find("nbest"); n != j.end()) {
      if (!n->is_number_integer() || *n < 1 || *n > 1000) return refuse("integer is expected for nbest option");
      nbest_ = n->get<std::size_t>();
    }
    session_options request = shared_.options.live;
    request.continuous = false;
    if (const auto c = j.find("continuous_decoding"); c != j.end()) {
      if (!c->is_boolean()) return refuse("boolean true or false is expected for continuous_decoding option");
      request.continuous = c->get<bool>();
    }
    guarded([&] { listener_.emplace(shared_.model.listen(request)); });
    out_.push_back(R"({"status":"ok","type":"server_ready"})");
  }

  void take_samples() {
    const auto* bytes = static_cast<const unsigned char*>(buffer_.data().data());
    const std::size_t n = buffer_.size() / 2;  // an odd byte at the end is no sample
    pcm_.resize(n);
    at_ = 0;
    samples_ += n;
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
      if (e.final() || !e.utterance.text.empty()) out_.push_back(result_text(e, nbest_));
    };
    constexpr std::size_t slice = 8000;
    if (at_ < pcm_.size()) {
      const auto piece = std::span(pcm_).subspan(at_, std::min(slice, pcm_.size() - at_));
      at_ += piece.size();
      guarded([&] { listener_->push(piece, sink); });
    } else if (ending_) {
      guarded([&] { listener_->finish(sink); });
    } else {
      return read();
    }
    if (!closing_ && listener_->over()) {
      out_.push_back(R"({"status":"ok","type":"speech_end"})");
      closing_ = true;
    }
    asio::post(ws_.get_executor(), [self = shared_from_this()] { self->proceed(); });
  }

  void write() {
    arm();
    ws_.text(true);
    ws_.async_write(asio::buffer(out_.front()), [self = shared_from_this()](error_code e, std::size_t) {
      if (e) return;
      self->out_.pop_front();
      self->proceed();
    });
  }

  void close() {
    arm();
    ws_.async_close(websocket::close_code::normal, [self = shared_from_this()](error_code) {});
  }

  void refuse(const std::string& why) {
    out_.push_back(text_of({{"status", "failed"}, {"message", why}}));
    pcm_.clear();
    at_ = 0;
    closing_ = true;
  }
  // Out of memory ends this connection and no other.
  template <class F>
  void guarded(F&& f) {
    try {
      f();
    } catch (const std::exception& e) {
      refuse(e.what());
    }
  }

  shared_part& shared_;
  websocket::stream<tcp::socket> ws_;
  asio::steady_timer deadline_;
  beast::flat_buffer buffer_;
  std::optional<listener> listener_;
  std::deque<std::string> out_;
  std::vector<float> pcm_;
  std::size_t at_ = 0, nbest_ = 1, samples_ = 0;
  bool ending_ = false, closing_ = false;
};

}  // namespace

struct server::body {
  body(const live_model& m, const server_options& o, std::function<void(const std::string&)> l)
      : options(o), log(std::move(l)), shared{m, options, log}, io(options.threads), acceptor(io), signals(io) {}

  void accept() {
    acceptor.async_accept(asio::make_strand(io), [this](error_code e, tcp::socket socket) {
      if (e == asio::error::operation_aborted) return;
      if (!e) admit(std::move(socket));
      if (!e) return accept();
      // Out of descriptors, most likely: those in use go on, and a moment later there may be some.
      retry.emplace(io, std::chrono::milliseconds(100));
      retry->async_wait([this](error_code cancelled) {
        if (!cancelled) accept();
      });
    });
  }
  void admit(tcp::socket socket) {
    if (shared.open < options.connections) {
      std::make_shared<connection>(std::move(socket), shared)->start();
      return;
    }
    if (log) log("connection refused: there are " + std::to_string(options.connections));
    error_code ignored;
    const std::string busy = "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    socket.non_blocking(true, ignored);
    asio::write(socket, asio::buffer(busy), ignored);
    socket.shutdown(tcp::socket::shutdown_send, ignored);
  }

  const server_options options;
  const std::function<void(const std::string&)> log;
  shared_part shared;
  asio::io_context io;
  tcp::acceptor acceptor;
  asio::signal_set signals;
  std::optional<asio::steady_timer> retry;
};

server::server(const live_model& model, const server_options& options, std::function<void(const std::string&)> log)
    : body_(std::make_unique<body>(model, options, std::move(log))) {
  (void)model.listen(options.live);  // a request the model refuses is refused now
  const std::string where = options.host + ":" + std::to_string(options.port);
  try {
    const tcp::endpoint at(asio::ip::make_address(options.host), static_cast<unsigned short>(options.port));
    body_->acceptor.open(at.protocol());
    body_->acceptor.set_option(tcp::acceptor::reuse_address(true));
    body_->acceptor.bind(at);
    body_->acceptor.listen();
  } catch (const boost::system::system_error& e) {
    fail({.where = where, .what = "cannot listen: " + e.code().message()});
  }
  body_->accept();
}
server::~server() = default;

int server::port() const { return body_->acceptor.local_endpoint().port(); }

void server::run() {
  std::vector<std::thread> others;
  for (int i = 1; i < body_->options.threads; ++i) others.emplace_back([this] { body_->io.run(); });
  body_->io.run();
  for (std::thread& t : others) t.join();
}

void server::stop() { body_->io.stop(); }

void server::stop_at_signals() {
  body_->signals.add(SIGINT);
  body_->signals.add(SIGTERM);
  body_->signals.async_wait([this](error_code e, int) {
    if (!e) stop();
  });
}

}  // namespace steno::app

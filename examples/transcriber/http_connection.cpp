// SPDX-License-Identifier: Apache-2.0
#include "http_connection.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "api_error.hpp"
#include "http_routes.hpp"
#include "json_builder.hpp"
#include "page.hpp"
#include "speech_task.hpp"

namespace steno::app {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using boost::system::error_code;

constexpr std::size_t body_portion = 65536;

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

std::string model_object(const std::string& id, long long created) {
  json_builder j;
  j.open('{').key("id").text(id).key("object").text("model").key("created").whole(created);
  return std::move(j.key("owned_by").text("steno").close('}')).str();
}

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", seconds);
  return text;
}

// All of a connection's handlers run on one thread; what the queue's threads say is posted there.
class http_connection final : public drainable, public asker, public std::enable_shared_from_this<http_connection> {
 public:
  http_connection(arrival who, server_hall& hall, std::unique_ptr<http_header_parser> header,
                  const beast::flat_buffer& more)
      : hall_(hall),
        from_(std::move(who.from)),
        share_(std::move(who.share)),
        place_(std::move(who.place)),
        patience_(std::chrono::seconds(hall.options.idle_seconds)),
        socket_(std::move(who.socket)),
        deadline_(socket_.get_executor()),
        limit_(socket_.get_executor()),
        header_(std::move(header)) {
    const auto bytes = more.data();
    buffer_.commit(asio::buffer_copy(buffer_.prepare(more.size()), bytes));
  }
  ~http_connection() {
    place_.reset();
    hall_.remove(*this);
  }

  void start(error_code e) {
    step([&] { e ? end_reading(e) : take_request(); });
  }
  void drain() override {
    asio::post(socket_.get_executor(), [self = shared_from_this()] { self->step([&] { self->begin_drain(); }); });
  }

  void abandon() noexcept override { task_.reset(); }  // which holds whom it would answer

  // On the queue's threads.
  void heard(std::string event) override {
    asio::post(socket_.get_executor(),
               [self = shared_from_this(), text = std::move(event)] { self->step([&] { self->send_event(text); }); });
  }
  void answered(api_answer a) noexcept override {
    answer_ = std::move(a);
    // Without memory for a handler it waits: the connection would never end otherwise.
    for (int tries = 0; tries < 1000; ++tries) try {
        asio::post(socket_.get_executor(), [self = shared_from_this()] { self->step([&] { self->take_answer(); }); });
        return;
      } catch (const std::exception&) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
      }
  }

 private:
  template <class F>
  void step(F&& f) {
    try {
      f();
    } catch (const std::exception& e) {
      cut();
      hall_.say_failed("a request was cut off", e);
    }
  }

  // The client's time, for one portion of what it sends or takes.
  void wait(std::chrono::steady_clock::duration time) {
    deadline_.expires_after(time);
    deadline_.async_wait([weak = weak_from_this(), turn = ++turn_](error_code e) {
      const auto self = weak.lock();
      if (!e && self && turn == self->turn_) self->step([&] { self->expired(); });
    });
  }
  void came() {
    ++turn_;
    deadline_.cancel();
  }
  void expired() {
    if (reading_body_ && !answering_) {
      cancel_io();
      return refuse(api_error(408,
                              "the body does not come: " + std::to_string(body_portion / 1024) +
                                  " KiB, or its rest, within " + std::to_string(hall_.options.idle_seconds) + " s",
                              "request_timeout"));
    }
    cut();
  }
  void cancel_io() {
    ++reads_;
    error_code ignored;
    socket_.cancel(ignored);
  }
  // Ends everything that is under way.
  void cut() {
    ++reads_;
    gone_ = true;
    if (task_) hall_.desk.withdraw(*task_);
    task_.reset();
    came();
    error_code ignored;
    socket_.close(ignored);
  }
  void begin_drain() {
    if (idle_) cut();  // otherwise it ends with its answer
  }

  void read_header() {
    if (hall_.draining()) return cut();
    header_ = std::make_unique<http_header_parser>();
    prepare_header(*header_);
    idle_ = true;
    wait(patience_);
    http::async_read_header(socket_, buffer_, *header_,
                            [self = shared_from_this(), turn = ++reads_](error_code e, std::size_t) {
                              if (turn != self->reads_) return;
                              self->came();
                              self->idle_ = false;
                              self->step([&] { e ? self->end_reading(e) : self->take_request(); });
                            });
  }
  void end_reading(error_code e) {
    if (e.category() != make_error_code(http::error::bad_method).category() || e == http::error::end_of_stream ||
        e == http::error::partial_message)
      return cut();
    whole_ = false;
    keep_ = false;
    if (e == http::error::header_limit) return refuse(api_error(431, "the header is longer than 8 KiB"));
    refuse(api_error(400, "the request is not HTTP/1.1: " + e.message()));
  }

  void take_request() {
    began_ = std::chrono::steady_clock::now();
    const auto& request = header_->get();
    keep_ = request.keep_alive();
    whole_ = header_->is_done();
    version_ = request.version();
    head_ = request.method() == http::verb::head;
    route_ = route_of(view_of(request.target()));
    method_ = request.method() == http::verb::unknown ? "other" : view_of(http::to_string(request.method()));
    streaming_ = answering_ = false;
    told_ = {};
    const auto facts = facts_of(socket_, *header_);
    if (!facts) return cut();
    const std::string why = refusal(hall_.access, *facts);
    if (!why.empty()) return refuse(api_error(403, why, "origin_not_allowed"));
    if (may_read(hall_.access, *facts)) {
      more_header_ = "Access-Control-Allow-Origin: " + facts->origins[0] + "\r\nVary: Origin\r\n";
      if (request.method() == http::verb::options) return answer_preflight();
    }
    try {
      dispatch();
    } catch (const api_error& e) {
      refuse(e);
    }
  }

  // What a browser asks before a page may send a request with a key.
  void answer_preflight() {
    more_header_ +=
        "Access-Control-Allow-Methods: GET, POST\r\nAccess-Control-Allow-Headers: Authorization, Content-Type\r\n"
        "Access-Control-Max-Age: 600\r\n";
    respond(200, "text/plain", "");
  }
  void need_method(bool post) {
    const auto m = header_->get().method();
    if (post ? m == http::verb::post : m == http::verb::get || m == http::verb::head) return;
    more_header_ += post ? "Allow: POST\r\n" : "Allow: GET, HEAD\r\n";
    throw api_error(405, "this path takes " + std::string(post ? "POST" : "GET") + " alone", "method_not_allowed");
  }
  void dispatch() {
    if (beast::iequals(header_->get()[http::field::upgrade], "websocket"))
      throw api_error(400, "a WebSocket session begins with the first request of a connection", "bad_upgrade");
    // Health says nothing but that, and is asked for by what has no key; the page asks its reader for one.
    const bool open_to_all =
        route_.to == endpoint::health || route_.to == endpoint::ready || route_.to == endpoint::page;
    if (!open_to_all && !has_key(hall_, *header_)) {
      more_header_ += "WWW-Authenticate: Bearer\r\n";
      throw api_error(401, "a key is needed that this server knows: Authorization: Bearer KEY", "invalid_api_key");
    }
    switch (route_.to) {
      case endpoint::none:
        throw api_error(404, "no such path: see docs/server.md; WebSocket sessions may have any path", "unknown_url");
      case endpoint::realtime:
        more_header_ += "Upgrade: websocket\r\n";
        throw api_error(426, "this path speaks WebSocket alone", "upgrade_required");
      case endpoint::transcriptions:
      case endpoint::translations:
        need_method(true);
        return begin_form();
      default:
        break;
    }
    need_method(false);
    switch (route_.to) {
      case endpoint::models:
        return respond(200, "application/json", R"({"object":"list","data":[)" + all_models() + "]}\n");
      case endpoint::model:
        if (!hall_.models->has(route_.model)) unknown_model(route_.model);
        return respond(200, "application/json", model_object(route_.model, hall_.began) + "\n");
      case endpoint::page:
        more_header_ +=
            "Content-Security-Policy: default-src 'none'; script-src 'unsafe-inline' blob:; style-src 'unsafe-inline'; "
            "connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n"
            "X-Content-Type-Options: nosniff\r\nCache-Control: no-cache\r\n";
        return respond(200, "text/html; charset=utf-8", std::string(page()));
      case endpoint::ready:
        if (hall_.draining()) throw api_error(503, "the server ends", "shutting_down");
        return respond(200, "application/json", "{\"status\":\"ready\"}\n");
      case endpoint::metrics:
        return respond(200, "text/plain; version=0.0.4; charset=utf-8",
                       hall_.counts.text({.connections = hall_.connections(),
                                          .waiting = hall_.desk.waiting(),
                                          .running = hall_.desk.running()}));
      default:
        return respond(200, "application/json", "{\"status\":\"ok\"}\n");
    }
  }
  std::string all_models() const {
    std::string list;
    for (const std::string& id : hall_.models->ids())
      list.append(list.empty() ? "" : ",").append(model_object(id, hall_.began));
    return list;
  }
  [[noreturn]] void unknown_model(const std::string& id) const {
    throw api_error(404, hall_.models->unknown(id), "model_not_found", "model");
  }
  void check_rate() {
    client_ = client_of(hall_, *header_, from_);
    const int wait_for = hall_.rates.take(client_);
    if (wait_for == 0) return;
    more_header_ += "Retry-After: " + std::to_string(wait_for) + "\r\n";
    throw api_error(429, rate_message(hall_), "rate_limit_exceeded");
  }
  void check_queue() {
    if (!hall_.desk.full()) return;
    more_header_ += "Retry-After: 1\r\n";
    throw api_error(429, std::to_string(hall_.options.max_queue) + " recordings wait already; try again", "queue_full");
  }

  void begin_form() {
    const auto& request = header_->get();
    if (view_of(request.target()).find('?') != std::string_view::npos)
      throw api_error(400, "this path takes no parameters behind a question mark", "unknown_parameter");
    if (hall_.draining()) throw api_error(503, "the server ends", "shutting_down");
    const auto boundary = multipart_boundary(view_of(request[http::field::content_type]));
    if (!boundary)
      throw api_error(415, "expected Content-Type: multipart/form-data with a boundary", "unsupported_content_type");
    const auto limit = static_cast<std::uint64_t>(hall_.options.body_bytes);
    if (const auto length = header_->content_length(); length && *length > limit) too_large();
    if (whole_) throw api_error(400, "the body is missing", "invalid_multipart");
    check_rate();
    check_queue();
    const auto expect = request[http::field::expect];
    if (!expect.empty() && !beast::iequals(expect, "100-continue"))
      throw api_error(417, "no such expectation: 100-continue is known");
    sound_ = std::make_shared<upload_file>();
    form_ = std::make_shared<speech_form>([file = sound_.get()](std::string_view piece) { file->write(piece); });
    parts_.emplace(*boundary, *form_);
    const bool asked = !expect.empty() && buffer_.size() == 0;
    body_.emplace(std::move(*header_));
    body_->body_limit(limit);
    taken_ = 0;
    reading_body_ = true;
    if (!asked) return read_body();
    wait(patience_);
    static constexpr std::string_view go_on = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(socket_, asio::buffer(go_on.data(), go_on.size()),
                      [self = shared_from_this(), turn = ++reads_](error_code e, std::size_t) {
                        if (turn != self->reads_) return;
                        self->came();
                        self->step([&] { e ? self->cut() : self->read_body(); });
                      });
  }
  [[noreturn]] void too_large() const {
    throw api_error(413, "the body is longer than " + std::to_string(hall_.options.body_bytes) + " bytes",
                    "request_too_large");
  }

  void read_body() {
    auto& to = body_->get().body();
    to.data = portion_.data();
    to.size = portion_.size();
    to.more = true;
    wait(patience_);
    http::async_read(socket_, buffer_, *body_, [self = shared_from_this(), turn = ++reads_](error_code e, std::size_t) {
      if (turn != self->reads_) return;
      self->came();
      self->step([&] { self->take_body(e); });
    });
  }
  void take_body(error_code e) {
    try {
      if (e == http::error::need_buffer) e = {};
      if (e == http::error::body_limit) too_large();
      if (e == http::error::buffer_overflow || e == http::error::bad_chunk || e == http::error::bad_chunk_extension)
        throw api_error(400, "the body is not chunked as it should be");
      if (e) return cut();
      const std::size_t n = portion_.size() - body_->get().body().size;
      taken_ += n;
      if (taken_ > static_cast<std::uint64_t>(hall_.options.body_bytes)) too_large();
      of_body([&] { parts_->push({portion_.data(), n}); });
      if (!body_->is_done()) return read_body();
      whole_ = true;
      of_body([&] { parts_->finish(); });
      submit();
    } catch (const api_error& refused) {
      refuse(refused);
    }
  }
  template <class F>
  static void of_body(F&& f) {
    try {
      f();
    } catch (const error& e) {
      throw api_error(400, e.what(), "invalid_multipart");
    }
  }

  void submit() {
    reading_body_ = false;
    parts_.reset();
    const bool translate = route_.to == endpoint::translations;
    const std::string model = form_->model.value_or(hall_.models->usual());
    if (!hall_.models->has(model)) unknown_model(model);
    speech_request asked = read_form(*form_, translate);
    if (const model_shelf::place m = hall_.models->ready(model)) {
      speech_request trial = asked;
      fit_to_model(trial, *form_, *m);  // what is refused is refused now, and not when its turn comes
    }
    if (asked.stream && version_ < 11)
      throw api_error(400, "stream: events need HTTP/1.1", "unsupported_value", "stream");
    check_queue();
    events_ = asked.stream;
    auto task = std::make_shared<speech_task>(
        speech_task::place{*hall_.models, hall_.desk, hall_.options.reading, hall_.options.audio_seconds,
                           hall_.options.max_batch, hall_.options.log_texts},
        model, speech_task::upload{std::move(sound_), std::move(form_), std::move(asked)}, shared_from_this());
    task->client = client_;
    task_ = task;
    if (hall_.options.request_seconds > 0) {
      limit_.expires_at(began_ + std::chrono::seconds(hall_.options.request_seconds));
      limit_.async_wait([weak = weak_from_this(), number = ++requests_](error_code e) {
        const auto self = weak.lock();
        if (!e && self && number == self->requests_) self->step([&] { self->too_late(); });
      });
    }
    watch_client();
    if (hall_.desk.offer(std::move(task))) return;
    ++reads_;
    task_.reset();
    check_queue();
    throw api_error(503, "the server ends", "shutting_down");
  }

  // While its answer is made a client has nothing to say but that it goes away.
  void watch_client() {
    if (buffer_.size() > 0) return;  // or the next request
    socket_.async_wait(client_socket::wait_read, [self = shared_from_this(), turn = ++reads_](error_code e) {
      if (turn != self->reads_) return;
      char c = 0;
      if (!e) self->socket_.receive(asio::buffer(&c, 1), client_socket::message_peek, e);
      if (!e) return;  // a request that came early
      self->hall_.say(self->from_ + " went away");
      self->cut();
    });
  }

  // The connection ends with this answer: the thread that works for it may still write another one.
  void too_late() {
    if (gone_ || !task_) return;
    ++reads_;
    hall_.desk.withdraw(*task_);
    task_.reset();
    late_ = true;
    keep_ = false;
    const api_error why(504, "there is no answer within " + std::to_string(hall_.options.request_seconds) + " s",
                        "deadline_exceeded");
    if (!streaming_) return refuse(why);
    put_chunk("event: error\ndata: " + why.body() + "\n");
    out_ += "0\r\n\r\n";
    ended_ = true;
    log(504);
    if (!writing_) write();
  }
  void take_answer() {
    if (gone_ || late_) return;
    limit_.cancel();
    ++reads_;  // an event may be on its way: nothing is cancelled
    task_.reset();
    told_ = std::move(answer_);
    api_answer& a = told_;
    if (a.status == 200) hall_.counts.recognised(a.audio_seconds, a.waited_seconds, a.worked_seconds, a.together);
    if (!events_ || (a.status != 200 && !streaming_)) return respond(a.status, a.type, std::move(a.body));
    events_ = false;
    open_events();
    if (a.status == 200)
      put_chunk("data: " + done_event(a.body) + "\n\n");
    else
      put_chunk("event: error\ndata: " + a.body + "\n");  // the body ends its line
    out_ += "0\r\n\r\n";
    ended_ = true;
    log(a.status);
    if (!writing_) write();
  }

  // Server-sent events, in chunks: how many there will be is not known.
  void send_event(const std::string& event) {
    if (gone_ || late_) return;
    open_events();
    put_chunk("data: " + event + "\n\n");
    if (!writing_) write();
  }
  static std::string done_event(const std::string& text) {
    json_builder j;
    return std::move(j.open('{').key("type").text("transcript.text.done").key("text").text(text).close('}')).str();
  }
  void open_events() {
    if (std::exchange(streaming_, true)) return;
    answering_ = true;
    ended_ = false;
    keep_ = keep_ && !hall_.draining();
    out_ = head_of(200) + std::exchange(more_header_, {}) +
           "Content-Type: text/event-stream\r\nCache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n" +
           (keep_ ? "\r\n" : "Connection: close\r\n\r\n");
  }
  void put_chunk(const std::string& text) {
    char size[20];
    std::snprintf(size, sizeof size, "%zx\r\n", text.size());
    out_.append(size).append(text).append("\r\n");
  }
  static std::string head_of(int status) {
    return "HTTP/1.1 " + std::to_string(status) + " " + std::string(status_text(status)) + "\r\n";
  }
  void refuse(const api_error& e) { respond(e.status(), "application/json", e.body()); }

  void respond(int status, std::string_view type, std::string body) {
    reading_body_ = false;
    parts_.reset();
    form_.reset();
    sound_.reset();
    answering_ = true;
    ended_ = true;
    keep_ = keep_ && whole_ && !hall_.draining();
    out_ = head_of(status);
    out_.append("Content-Type: ").append(type).append("\r\nContent-Length: ").append(std::to_string(body.size()));
    out_.append("\r\n").append(std::exchange(more_header_, {}));
    out_.append(keep_ ? "\r\n" : "Connection: close\r\n\r\n");
    if (!head_) out_ += body;
    log(status);
    write();
  }

  // A portion at a time: a client that takes none of it for a while is gone.
  void write() {
    if (out_.empty()) {
      writing_ = false;
      if (ended_) end_answer();
      return;
    }
    writing_ = true;
    now_ = out_.substr(0, body_portion);
    out_.erase(0, now_.size());
    wait(patience_);
    asio::async_write(socket_, asio::buffer(now_), [self = shared_from_this()](error_code e, std::size_t) {
      if (self->gone_) return;
      self->came();
      self->step([&] { e ? self->cut() : self->write(); });
    });
  }
  void end_answer() {
    streaming_ = answering_ = false;
    body_.reset();
    header_.reset();
    if (keep_) return read_header();
    error_code ignored;
    socket_.shutdown(client_socket::shutdown_send, ignored);
    if (whole_) return cut();
    wait(goodbye);
    discard();
  }
  // A socket that is closed while something is unread throws the answer away.
  void discard() {
    socket_.async_read_some(asio::buffer(portion_), [self = shared_from_this()](error_code e, std::size_t) {
      if (self->gone_) return;
      e ? self->cut() : self->discard();
    });
  }

  void log(int status) {
    std::string line = "request peer=" + from_;
    line.append(" method=").append(method_).append(" path=").append(route_.name);
    line.append(" status=").append(std::to_string(status));
    if (taken_ > 0) line.append(" bytes=").append(std::to_string(taken_));
    if (told_.worked_seconds > 0)
      line.append(" audio_s=")
          .append(seconds_text(told_.audio_seconds))
          .append(" waited_s=")
          .append(seconds_text(told_.waited_seconds))
          .append(" worked_s=")
          .append(seconds_text(told_.worked_seconds));
    const double total = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    line.append(" total_s=").append(seconds_text(total));
    if (!told_.text.empty()) line.append(" text=").append(json_builder().text(told_.text).str());
    hall_.counts.answered(route_.name, status, total);
    taken_ = 0;
    hall_.say(line);
  }

  static constexpr std::chrono::seconds goodbye{2};

  server_hall& hall_;
  const std::string from_;
  const std::shared_ptr<const char> share_;
  std::unique_ptr<seat> place_;
  const std::chrono::steady_clock::duration patience_;
  client_socket socket_;
  client_timer deadline_, limit_;  // of the client; of the answer
  unsigned turn_ = 0, reads_ = 0;  // of waiting, of reading: what belongs to one before has no effect
  beast::flat_buffer buffer_{4 * body_portion};
  std::unique_ptr<http_header_parser> header_;
  std::optional<http::request_parser<http::buffer_body>> body_;
  std::array<char, body_portion> portion_{};
  std::uint64_t taken_ = 0;  // bytes of the body
  std::optional<multipart_reader> parts_;
  std::shared_ptr<speech_form> form_;
  std::shared_ptr<upload_file> sound_;
  std::shared_ptr<speech_task> task_;  // while it is with the queue
  api_answer answer_;                  // written by the queue's thread, before it is posted that it is there
  route route_;
  std::string_view method_ = "other";
  std::string more_header_, out_, now_;
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  api_answer told_;  // to the present request, without its body
  unsigned version_ = 11;
  bool keep_ = false, whole_ = false, head_ = false;  // of the request
  bool idle_ = false, reading_body_ = false, answering_ = false, gone_ = false;
  std::uint64_t client_ = 0, requests_ = 0;
  bool late_ = false;
  bool events_ = false, streaming_ = false, writing_ = false, ended_ = false;
};

}  // namespace

void begin_http(arrival who, server_hall& hall, std::unique_ptr<http_header_parser> header,
                const beast::flat_buffer& more, error_code e) {
  const auto made = std::make_shared<http_connection>(std::move(who), hall, std::move(header), more);
  hall.add(made);
  made->start(e);
}

}  // namespace steno::app

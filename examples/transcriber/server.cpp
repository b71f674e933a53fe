// SPDX-License-Identifier: Apache-2.0
#include "server.hpp"

#include <steno/error.hpp>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "client_socket.hpp"
#include "connection.hpp"
#include "server_hall.hpp"

namespace steno::app {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

}  // namespace

// The lanes' work runs on the threads that decode, `control` on the one that accepts and takes signals.
struct server::body {
  // An address that is listened at.
  struct entrance {
    explicit entrance(asio::io_context& control) : acceptor(control), pause(control) {}
    door acceptor;
    client_timer pause;
    bool waiting = false;  // for a client, or for the end of a pause
  };

  // A thread that decodes, and what it has to do: a connection stays with one thread, so its handlers never meet.
  struct lane {
    asio::io_context work{1};
    asio::executor_work_guard<thread_executor> work_to_come{work.get_executor()};
    std::shared_ptr<const char> share = std::make_shared<char>();  // each connection holds one, too
  };

  body(std::unique_ptr<model_shelf> m, const server_options& o, std::function<void(const std::string&)> log)
      : hall(std::move(m), o, std::move(log)), control(1), signals(control), deadline(control) {
    for (int i = 0; i < std::max(1, o.threads); ++i) lanes.push_back(std::make_unique<lane>());
    running = lanes.size();
  }

  void listen();
  bool listen_at(const tcp::resolver::results_type& found, error_code& e);
  bool open(const tcp::endpoint& at, error_code& e);
  void accept(entrance& at);
  void accept_everywhere();
  void pause(entrance& at);
  lane& emptiest();
  void decode(lane& mine);
  void stop_decoding();
  bool serve_until_decoded();
  void begin_drain(int because);
  void await_signal();

  server_hall hall;
  std::vector<std::unique_ptr<lane>> lanes;
  std::atomic<std::size_t> running;  // lanes that have a thread: the first ones
  asio::io_context control;
  asio::signal_set signals;
  client_timer deadline;
  std::vector<std::unique_ptr<entrance>> entrances;
  std::atomic<int> decoding{0};  // threads
  int signal = 0;                // that ended it
};

void server::body::listen() {
  const std::string where = hall.options.host + ":" + std::to_string(hall.options.port);
  error_code e;
  tcp::resolver resolver(control);
  const auto found = resolver.resolve(hall.options.host, std::to_string(hall.options.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, e);
  if (e) fail({.where = where, .what = "cannot listen: " + e.message()});
  // A port that is free at one address may be taken at the next.
  for (int tries = hall.options.port == 0 ? 16 : 1; tries > 0 && !listen_at(found, e); --tries) entrances.clear();
  if (entrances.empty()) fail({.where = where, .what = "cannot listen: " + e.message()});
}

// At all of these; a machine without IPv6 still resolves localhost to ::1, which is no reason to fail.
bool server::body::listen_at(const tcp::resolver::results_type& found, error_code& e) {
  for (const auto& entry : found) {
    tcp::endpoint at = entry.endpoint();
    const auto same = [&](const auto& one) { return one->acceptor.local_endpoint().address() == at.address(); };
    if (std::any_of(entrances.begin(), entrances.end(), same)) continue;
    if (!entrances.empty()) at.port(entrances[0]->acceptor.local_endpoint().port());
    if (!open(at, e) && e != asio::error::address_family_not_supported &&
        e != boost::system::errc::address_not_available)
      return false;
  }
  return !entrances.empty();
}

bool server::body::open(const tcp::endpoint& at, error_code& e) {
  auto one = std::make_unique<entrance>(control);
  one->acceptor.open(at.protocol(), e);
  if (!e) one->acceptor.set_option(door::reuse_address(true), e);
  if (!e) one->acceptor.bind(at, e);
  if (!e) one->acceptor.listen(door::max_listen_connections, e);
  if (!e) one->acceptor.non_blocking(true, e);
  if (!e) entrances.push_back(std::move(one));
  return !e;
}

// With the fewest connections.
server::body::lane& server::body::emptiest() {
  const auto fewer = [](const auto& a, const auto& b) { return a->share.use_count() < b->share.use_count(); };
  const auto end = lanes.begin() + static_cast<std::ptrdiff_t>(running.load());
  return **std::min_element(lanes.begin(), end, fewer);
}

void server::body::accept(entrance& at) {
  at.acceptor.async_wait(door::wait_read, [this, &at](error_code e) {
    at.waiting = false;
    if (e == asio::error::operation_aborted || hall.draining()) return;
    bool short_of_memory = false;
    try {
      lane& l = emptiest();
      client_socket socket(l.work);
      if (!e) at.acceptor.accept(socket, e);
      if (!e) begin_connection(std::move(socket), l.share, hall);
    } catch (const std::exception& failed) {
      hall.say_failed("connection refused", failed);
      short_of_memory = true;
    }
    // Out of descriptors or memory: a moment later there may be some, and the client may still be at the door. One that
    // is gone already is no reason.
    if (short_of_memory) return pause(at);
    if (e && e != asio::error::would_block && e != asio::error::connection_aborted) return pause(at);
    accept(at);
  });
  at.waiting = true;
}

void server::body::pause(entrance& at) {
  at.pause.expires_after(std::chrono::milliseconds(100));
  at.pause.async_wait([this, &at](error_code e) {
    at.waiting = false;
    if (!e && !hall.draining()) accept(at);
  });
  at.waiting = true;
}

void server::body::accept_everywhere() {
  for (const auto& one : entrances)
    if (!one->waiting && one->acceptor.is_open() && !hall.draining()) accept(*one);
}

// What comes out of a handler here is out of memory in what surrounds a connection; its session is lost.
void server::body::decode(lane& mine) {
  for (;;) try {
      mine.work.run();
      break;
    } catch (const std::exception& e) {
      hall.say_failed("a session was lost", e);
    }
  if (--decoding == 0) control.stop();
}

void server::body::stop_decoding() {
  for (const auto& l : lanes) l->work.stop();
}

// True when nothing is to be done any more; false: memory was short, try again.
bool server::body::serve_until_decoded() {
  try {
    accept_everywhere();
    control.run();
    return true;
  } catch (const std::exception& e) {
    hall.say_failed("cannot accept connections", e);
    return false;
  }
}

void server::body::begin_drain(int because) {
  if (hall.draining()) return;
  signal = because;
  for (const auto& one : entrances) {
    error_code ignored;
    one->acceptor.close(ignored);
    one->pause.cancel();
  }
  deadline.expires_after(std::chrono::seconds(hall.options.drain_seconds));
  deadline.async_wait([this, because](error_code e) {
    if (e) return;
    hall.say("connections that were cut off: " + std::to_string(hall.connections()));
    stop_decoding();
    if (because == 0) return;
    deadline.expires_after(std::chrono::seconds(2));
    deadline.async_wait([because](error_code cancelled) {
      if (!cancelled) ::_exit(128 + because);  // a thread is in the middle of a long pass
    });
  });
  hall.say("stopping; connections that are to end within " + std::to_string(hall.options.drain_seconds) +
           " s: " + std::to_string(hall.connections()));
  hall.drain([this] { stop_decoding(); });
}

void server::body::await_signal() {
  signals.async_wait([this](error_code e, int number) {
    if (e) return;
    if (hall.draining()) ::_exit(128 + number);
    await_signal();
    begin_drain(number);
  });
}

namespace {

std::unique_ptr<model_shelf> shelf_of_one(const transcriber& model, const server_options& o) {
  auto shelf = std::make_unique<model_shelf>();
  shelf->add(o.model_id, std::make_shared<const served_model>(model, o.live, o.beside, o.recording, nullptr));
  return shelf;
}

}  // namespace

server::server(const transcriber& model, const server_options& options, std::function<void(const std::string&)> log)
    : server(shelf_of_one(model, options), options, std::move(log)) {}

server::server(std::unique_ptr<model_shelf> models, const server_options& options,
               std::function<void(const std::string&)> log)
    : body_(std::make_unique<body>(std::move(models), options, std::move(log))) {
  body_->listen();
}
server::~server() = default;

int server::port() const { return body_->entrances[0]->acceptor.local_endpoint().port(); }

std::string server::addresses() const {
  std::string all;
  for (const auto& one : body_->entrances) {
    const tcp::endpoint at = one->acceptor.local_endpoint();
    const std::string address = at.address().to_string();
    all += (all.empty() ? "" : ", ") + (at.address().is_v6() ? "[" + address + "]" : address) + ":" +
           std::to_string(at.port());
  }
  return all;
}

int server::run() {
  body& b = *body_;
  std::vector<std::thread> threads;
  b.decoding = static_cast<int>(b.lanes.size());
  try {
    threads.reserve(b.lanes.size());
    for (const auto& l : b.lanes) threads.emplace_back([&b, &mine = *l] { b.decode(mine); });
  } catch (const std::exception& e) {
    if (threads.empty()) fail({.what = "no thread can be had to decode", .found = e.what()});
    const std::size_t missing = b.lanes.size() - threads.size();
    b.running = threads.size();
    b.hall.say("threads that can be had: " + std::to_string(threads.size()) + " of " + std::to_string(b.lanes.size()) +
               " (" + e.what() + ")");
    if ((b.decoding -= static_cast<int>(missing)) == 0) b.control.stop();
  }
  const int recognising = b.hall.desk.start(std::max(1, b.hall.options.threads));
  if (recognising < b.hall.options.threads)
    b.hall.say("threads that can be had to recognise recordings: " + std::to_string(recognising) + " of " +
               std::to_string(b.hall.options.threads));
  if (b.hall.models->loaded() < b.hall.models->size()) b.hall.loader.start(1);
  while (!b.serve_until_decoded()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  for (std::thread& t : threads) t.join();
  b.hall.loader.stop();
  b.hall.desk.stop();  // while the lanes are there, to which its tasks' connections belong
  b.hall.abandon();
  return b.signal;
}

void server::stop() { body_->stop_decoding(); }

void server::drain() {
  asio::post(body_->control, [b = body_.get()] { b->begin_drain(0); });
}

void server::drain_at_signals() {
  body_->signals.add(SIGINT);
  body_->signals.add(SIGTERM);
  body_->await_signal();
}

}  // namespace steno::app

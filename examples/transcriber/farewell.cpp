// SPDX-License-Identifier: Apache-2.0
#include "farewell.hpp"

#include <array>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/write.hpp>
#include <memory>
#include <string>

namespace steno::app {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

std::atomic<int> under_way{0};

class farewell : public std::enable_shared_from_this<farewell> {
 public:
  farewell(client_socket socket, std::string text)
      : socket_(std::move(socket)), deadline_(socket_.get_executor()), text_(std::move(text)) {
    ++under_way;
  }
  farewell(const farewell&) = delete;
  ~farewell() { --under_way; }

  void start() {
    asio::dispatch(socket_.get_executor(), [self = shared_from_this()] { self->write(); });
  }

 private:
  void write() {
    deadline_.expires_after(std::chrono::seconds(2));
    deadline_.async_wait([weak = weak_from_this()](error_code e) {
      const auto self = weak.lock();
      error_code ignored;
      if (!e && self) self->socket_.close(ignored);
    });
    asio::async_write(socket_, asio::buffer(text_), [self = shared_from_this()](error_code e, std::size_t) {
      error_code ignored;
      if (e) return;
      self->socket_.shutdown(client_socket::shutdown_send, ignored);
      self->discard();
    });
  }
  void discard() {
    socket_.async_read_some(asio::buffer(rest_), [self = shared_from_this()](error_code e, std::size_t n) {
      self->discarded_ += n;
      if (!e && self->discarded_ < (1u << 20)) self->discard();
    });
  }

  client_socket socket_;
  client_timer deadline_;
  const std::string text_;
  std::array<char, 4096> rest_{};
  std::size_t discarded_ = 0;
};

}  // namespace

void say_farewell(client_socket socket, std::string_view status, std::string_view why) {
  if (under_way >= 64) return;
  std::string text = "HTTP/1.1 ";
  text.append(status).append("\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ");
  text.append(std::to_string(why.size() + 1)).append("\r\nConnection: close\r\n\r\n").append(why).append("\n");
  std::make_shared<farewell>(std::move(socket), std::move(text))->start();
}

}  // namespace steno::app

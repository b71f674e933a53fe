// A WebSocket client that can also misbehave: plain sockets, one frame at a time. Everything that waits ends after a
// minute, so that a server that does not answer is a failure and not a test that hangs.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace steno::test {

class websocket {
 public:
  struct message {
    int opcode = 0;  ///< 1: text, 2: binary, 8: the end
    std::string data;
    /// Of an end.
    int close_code() const {
      if (opcode != 8 || data.size() < 2) return 0;
      return static_cast<unsigned char>(data[0]) * 256 + static_cast<unsigned char>(data[1]);
    }
  };

  /// Connects and nothing else. Throws std::runtime_error.
  explicit websocket(int port, const char* address = "127.0.0.1") : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval patience{600, 0};  // sanitizers take their time; CTest ends what never comes
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(socket_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address, &to.sin_addr);
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0) return;
    ::close(socket_);
    throw std::runtime_error("cannot connect");
  }
  websocket(websocket&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)), unread_(std::move(other.unread_)) {}
  ~websocket() {
    if (socket_ >= 0) ::close(socket_);
  }

  /// The status of the server's answer, 0 when there is none; what follows the header is in `body`.
  int shake_hands(std::string_view host = "127.0.0.1", std::string_view more = "", std::string* body = nullptr) {
    std::string text = "GET / HTTP/1.1\r\nHost: ";
    text.append(host).append("\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n");
    text.append("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n").append(more).append("\r\n");
    return request(text, body);
  }
  int request(std::string_view text, std::string* body = nullptr) {
    send_all(text);
    std::size_t end = 0;
    while ((end = unread_.find("\r\n\r\n")) == std::string::npos)
      if (!receive()) return 0;
    const int status = std::stoi(unread_.substr(9, 3));
    unread_.erase(0, end + 4);
    if (status != 101)
      while (receive()) {
      }
    if (body != nullptr) *body = unread_;
    return status;
  }

  void text(std::string_view data) { frame(1, data); }
  void binary(std::span<const std::int16_t> pcm) {
    frame(2, {reinterpret_cast<const char*>(pcm.data()), pcm.size_bytes()});
  }
  /// The mask is all zeros, so the data stand as they are.
  void frame(int opcode, std::string_view data) {
    std::string whole(1, static_cast<char>(0x80 | opcode));
    const int bytes = data.size() < 126 ? 0 : data.size() < 65536 ? 2 : 8;
    whole += static_cast<char>(0x80 | (bytes == 0 ? static_cast<int>(data.size()) : bytes == 2 ? 126 : 127));
    for (int i = bytes - 1; i >= 0; --i) whole += static_cast<char>(data.size() >> (8 * i) & 0xff);
    send_all(whole.append(4, '\0').append(data));
  }
  /// The next message; nothing when the connection is over. A ping is passed over; an end is answered, and nothing can
  /// be sent any more.
  std::optional<message> read() {
    for (;;) {
      const auto m = next_frame();
      if (m && m->opcode == 8) {
        frame(8, m->data);
        ::shutdown(socket_, SHUT_WR);
      }
      if (!m || m->opcode < 9) return m;
    }
  }
  int descriptor() const { return socket_; }

 private:
  void send_all(std::string_view data) {
    while (!data.empty()) {
      const ssize_t n = ::send(socket_, data.data(), data.size(), MSG_NOSIGNAL);
      if (n <= 0) return;  // the other end is gone, which reading tells
      data.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  bool receive() {
    char some[65536];
    const ssize_t n = ::recv(socket_, some, sizeof some, 0);
    if (n > 0) unread_.append(some, static_cast<std::size_t>(n));
    return n > 0;
  }
  std::optional<message> next_frame() {
    const auto have = [&](std::size_t n) {
      while (unread_.size() < n)
        if (!receive()) return false;
      return true;
    };
    if (!have(2)) return std::nullopt;
    const auto byte = [&](std::size_t i) { return static_cast<std::size_t>(static_cast<unsigned char>(unread_[i])); };
    std::size_t size = byte(1) & 0x7f, head = 2;
    if (size > 125) {
      head += size == 126 ? 2 : 8;
      if (!have(head)) return std::nullopt;
      size = 0;
      for (std::size_t i = 2; i < head; ++i) size = size << 8 | byte(i);
    }
    if (!have(head + size)) return std::nullopt;
    message m{static_cast<int>(byte(0) & 0x0f), unread_.substr(head, size)};
    unread_.erase(0, head + size);
    return m;
  }

  int socket_;
  std::string unread_;
};

}  // namespace steno::test

// An HTTP client that can also misbehave: what it sends is written out, byte for byte. Everything that waits ends after
// a minute.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transcriber/websocket.hpp"

namespace steno::test {

struct http_answer {
  int status = 0;                                  ///< 0: there is none
  std::map<std::string, std::string> fields = {};  ///< names in small letters
  std::string body = {};
};

class http_client {
 public:
  explicit http_client(int port) : socket_(port) {}
  void send(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t n = ::send(socket_.descriptor(), text.data(), text.size(), MSG_NOSIGNAL);
      if (n < 0 && errno == EINTR) continue;  // the end of a child, where another thread waits for it
      if (n <= 0) return;
      text.remove_prefix(static_cast<std::size_t>(n));
    }
  }
  /// Nothing more is sent; answers are still read.
  void end_sending() const { ::shutdown(socket_.descriptor(), SHUT_WR); }
  /// The next answer that is not interim, or one with status 0.
  http_answer read() {
    http_answer a;
    do a = read_one();
    while (a.status >= 100 && a.status < 200);
    return a;
  }
  /// Also the interim ones.
  http_answer read_one() {
    http_answer a;
    std::size_t end = 0;
    while ((end = unread_.find("\r\n\r\n")) == std::string::npos)
      if (!receive()) return a;
    const std::string head = unread_.substr(0, end + 2);
    unread_.erase(0, end + 4);
    a.status = std::stoi(head.substr(9, 3));
    for (std::size_t at = head.find("\r\n") + 2; at < head.size();) {
      const std::size_t colon = head.find(": ", at), stop = head.find("\r\n", at);
      std::string name = head.substr(at, colon - at);
      std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
      a.fields[name] = head.substr(colon + 2, stop - colon - 2);
      at = stop + 2;
    }
    if (a.status < 200) return a;
    if (a.fields.count("content-length") != 0) {
      const std::size_t size = std::stoul(a.fields["content-length"]);
      while (unread_.size() < size && receive()) {
      }
      a.body = unread_.substr(0, size);
      unread_.erase(0, a.body.size());
    } else if (a.fields["transfer-encoding"] == "chunked") {
      for (;;) {
        while (unread_.find("\r\n") == std::string::npos && receive()) {
        }
        const std::size_t line = unread_.find("\r\n");
        if (line == std::string::npos) return a;
        const std::size_t size = std::stoul(unread_, nullptr, 16);
        while (unread_.size() < line + size + 4 && receive()) {
        }
        a.body += unread_.substr(line + 2, size);
        unread_.erase(0, line + size + 4);
        if (size == 0) return a;
      }
    }
    return a;
  }
  /// Whether the server has ended the connection, and has nothing more to say.
  bool over() { return unread_.empty() && !receive(); }

 private:
  bool receive() {
    char some[65536];
    ssize_t n = 0;
    do n = ::recv(socket_.descriptor(), some, sizeof some, 0);
    while (n < 0 && errno == EINTR);
    if (n > 0) unread_.append(some, static_cast<std::size_t>(n));
    return n > 0;
  }

  websocket socket_;
  std::string unread_;
};

/// A form as node's and Python's clients write it.
class form {
 public:
  form& field(std::string_view name, std::string_view value) {
    body_.append("--").append(boundary).append("\r\nContent-Disposition: form-data; name=\"").append(name);
    body_.append("\"\r\n\r\n").append(value).append("\r\n");
    return *this;
  }
  form& file(std::string_view bytes, std::string_view name = "file", std::string_view file_name = "talk.wav") {
    body_.append("--").append(boundary).append("\r\nContent-Disposition: form-data; name=\"").append(name);
    body_.append("\"; filename=\"").append(file_name).append("\"\r\nContent-Type: audio/wav\r\n\r\n");
    body_.append(bytes).append("\r\n");
    return *this;
  }
  std::string body() const { return body_ + "--" + boundary + "--\r\n"; }
  /// The whole request.
  std::string post(std::string_view path = "/v1/audio/transcriptions", std::string_view more = "") const {
    return head(path, body().size(), more) + body();
  }
  static std::string head(std::string_view path, std::size_t length, std::string_view more = "") {
    std::string text = "POST ";
    text.append(path).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer sk-test\r\nUser-Agent: OpenAI/JS ");
    text.append("5.0.0\r\nAccept: application/json\r\nContent-Type: multipart/form-data; boundary=").append(boundary);
    text.append("\r\nContent-Length: ").append(std::to_string(length)).append("\r\n").append(more).append("\r\n");
    return text;
  }
  static constexpr const char* boundary = "----formdata-undici-0123456789";

 private:
  std::string body_;
};

/// One request on a connection of its own.
inline http_answer ask(int port, const std::string& request) {
  http_client c(port);
  c.send(request);
  return c.read();
}

}  // namespace steno::test

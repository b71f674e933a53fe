// multipart/form-data (RFC 7578) as it comes, in constant memory: what browsers, curl and HTTP libraries send, and
// nothing more lenient.
//
//   --BOUNDARY CRLF  header lines  CRLF CRLF  bytes  CRLF --BOUNDARY CRLF ...  CRLF --BOUNDARY-- [CRLF]
// Refused: bytes before the first or behind the last boundary, lines that end otherwise, control characters in headers,
// parts without a name, parts of parts, contents in base64 or quoted-printable, and more or longer parts than the
// limits say. The name of an uploaded file is not kept. Tested in tests/transcriber/multipart_test.cpp and
// tests/fuzz/multipart_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace steno::app {

struct multipart_limits {
  std::size_t parts = 64;
  std::size_t header_bytes = 4096;  ///< of a part
};

struct multipart_part {
  std::string name;
  bool file = false;  ///< it has a file name, whatever that is
};

/// Takes what the reader finds, in order. What these throw comes out of push().
class multipart_sink {
 public:
  virtual ~multipart_sink() = default;
  virtual void begin(const multipart_part& part) = 0;
  /// Pieces of any size, not empty.
  virtual void bytes(std::string_view piece) = 0;
  virtual void end() = 0;
};

namespace multipart_words {
inline char small(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }
inline bool same(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return small(x) == small(y); });
}
inline bool token_character(char c) {
  const char s = small(c);
  return (s >= 'a' && s <= 'z') || (s >= '0' && s <= '9') ||
         std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}
inline void skip_space(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
}
inline std::string_view take_token(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && token_character(text[n])) ++n;
  const std::string_view token = text.substr(0, n);
  text.remove_prefix(n);
  return token;
}

/// "KIND; name=value; name="value"": f(name, value) for each parameter. Nothing when it is not of this form; else KIND.
template <class F>
std::optional<std::string_view> parameters(std::string_view text, F&& f) {
  skip_space(text);
  const std::size_t end = std::min(text.find(';'), text.size());
  std::string_view kind = text.substr(0, end);
  while (!kind.empty() && (kind.back() == ' ' || kind.back() == '\t')) kind.remove_suffix(1);
  text.remove_prefix(end);
  while (!text.empty()) {
    text.remove_prefix(1);  // ';'
    skip_space(text);
    if (text.empty()) break;
    const std::string_view name = take_token(text);
    if (name.empty() || text.empty() || text[0] != '=') return std::nullopt;
    text.remove_prefix(1);
    std::string value;
    if (!text.empty() && text[0] == '"') {
      std::size_t at = 1;
      for (; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] == '\\' && at + 1 < text.size() && (text[at + 1] == '"' || text[at + 1] == '\\')) ++at;
        value += text[at];
      }
      if (at >= text.size()) return std::nullopt;
      text.remove_prefix(at + 1);
    } else {
      value = take_token(text);
      if (value.empty()) return std::nullopt;
    }
    f(name, std::move(value));
    skip_space(text);
    if (!text.empty() && text[0] != ';') return std::nullopt;
  }
  return kind;
}
}  // namespace multipart_words

/// The boundary that a Content-Type names; nothing when it is not multipart/form-data with a legal one.
inline std::optional<std::string> multipart_boundary(std::string_view content_type) {
  std::optional<std::string> found;
  int count = 0;
  const auto kind = multipart_words::parameters(content_type, [&](std::string_view name, std::string value) {
    if (!multipart_words::same(name, "boundary")) return;
    found = std::move(value);
    ++count;
  });
  if (!kind || !multipart_words::same(*kind, "multipart/form-data") || count != 1) return std::nullopt;
  const auto legal = [](char c) {
    const char s = multipart_words::small(c);
    return (s >= 'a' && s <= 'z') || (s >= '0' && s <= '9') ||
           std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos;
  };
  if (found->empty() || found->size() > 70 || found->back() == ' ' || !std::all_of(found->begin(), found->end(), legal))
    return std::nullopt;
  return found;
}

class multipart_reader {
 public:
  /// `boundary` as multipart_boundary() gives it; `to` must outlive it.
  multipart_reader(const std::string& boundary, multipart_sink& to, const multipart_limits& limits = {})
      : delimiter_("\r\n--" + boundary), to_(to), limits_(limits) {}

  /// More of the body. Throws steno::error when it is not of the form; nothing may follow then.
  void push(std::string_view more) {
    kept_.append(more);
    std::string_view rest = kept_;
    while (step(rest)) {
    }
    kept_.erase(0, kept_.size() - rest.size());
  }
  /// No more follows. Throws steno::error when the body is not whole.
  void finish() {
    if (at_ != place::behind) wrong("the body ends before its last boundary");
    if (!kept_.empty() && kept_ != "\r\n") wrong("bytes behind the last boundary");
  }
  /// Bytes that wait for more.
  std::size_t waiting() const { return kept_.size(); }

 private:
  enum class place { start, boundary, header, content, behind };

  [[noreturn]] static void wrong(std::string what) { fail({.where = "multipart body", .what = std::move(what)}); }

  // False when more bytes are needed.
  bool step(std::string_view& rest) {
    switch (at_) {
      case place::start: {
        const std::string_view first = std::string_view(delimiter_).substr(2);
        const std::size_t n = std::min(first.size(), rest.size());
        if (rest.substr(0, n) != first.substr(0, n)) wrong("does not begin with its boundary");
        if (n < first.size()) return false;
        rest.remove_prefix(n);
        at_ = place::boundary;
        return true;
      }
      case place::boundary:
        if (rest.size() < 2) return false;
        if (rest.substr(0, 2) == "--")
          at_ = place::behind;
        else if (rest.substr(0, 2) == "\r\n")
          at_ = place::header;
        else
          wrong("neither a line break nor -- behind a boundary");
        rest.remove_prefix(2);
        if (at_ == place::behind && parts_ == 0) wrong("has no parts");
        return true;
      case place::header: {
        const std::size_t end = rest.find("\r\n\r\n");
        if (std::min(end, rest.size()) > limits_.header_bytes)
          wrong("the header of a part is longer than " + std::to_string(limits_.header_bytes) + " bytes");
        if (end == std::string_view::npos) return false;
        if (++parts_ > limits_.parts) wrong("more than " + std::to_string(limits_.parts) + " parts");
        to_.begin(part_of(rest.substr(0, end)));
        rest.remove_prefix(end + 4);
        at_ = place::content;
        return true;
      }
      case place::content: {
        const std::size_t end = rest.find(delimiter_);
        if (end == std::string_view::npos) {
          const std::size_t safe = rest.size() - std::min(rest.size(), delimiter_.size() - 1);
          if (safe > 0) to_.bytes(rest.substr(0, safe));
          rest.remove_prefix(safe);
          return false;
        }
        if (end > 0) to_.bytes(rest.substr(0, end));
        to_.end();
        rest.remove_prefix(end + delimiter_.size());
        at_ = place::boundary;
        return true;
      }
      case place::behind:
        if (rest.size() > 2) wrong("bytes behind the last boundary");
        return false;
    }
    return false;
  }

  static multipart_part part_of(std::string_view header) {
    using namespace multipart_words;
    multipart_part part;
    int dispositions = 0;
    while (!header.empty()) {
      const std::size_t end = std::min(header.find("\r\n"), header.size());
      std::string_view line = header.substr(0, end);
      header.remove_prefix(std::min(end + 2, header.size()));
      if (std::any_of(line.begin(), line.end(), [](char c) {
            const auto u = static_cast<unsigned char>(c);
            return (u < 0x20 && c != '\t') || u == 0x7f;
          }))
        wrong("a control character in the header of a part");
      const std::string_view name = take_token(line);
      if (name.empty() || line.empty() || line[0] != ':') wrong("a header line of a part is not NAME: VALUE");
      line.remove_prefix(1);
      if (same(name, "content-disposition")) {
        ++dispositions;
        int names = 0;
        const auto kind = parameters(line, [&](std::string_view key, std::string value) {
          if (same(key, "name")) {
            part.name = std::move(value);
            ++names;
          }
          if (same(key, "filename") || same(key, "filename*")) part.file = true;
        });
        if (!kind || !same(*kind, "form-data")) wrong("a part's Content-Disposition is not form-data");
        if (names != 1 || part.name.empty()) wrong("a part without a name, or with several");
      } else if (same(name, "content-type")) {
        skip_space(line);
        if (same(line.substr(0, 10), "multipart/")) wrong("a part that is multipart itself");
      } else if (same(name, "content-transfer-encoding")) {
        skip_space(line);
        if (!same(line, "binary") && !same(line, "8bit") && !same(line, "7bit"))
          wrong("a part's Content-Transfer-Encoding is not binary");
      }
    }
    if (dispositions != 1) wrong("a part without a Content-Disposition, or with several");
    return part;
  }

  const std::string delimiter_;
  multipart_sink& to_;
  const multipart_limits limits_;
  place at_ = place::start;
  std::size_t parts_ = 0;
  std::string kept_;
};

}  // namespace steno::app

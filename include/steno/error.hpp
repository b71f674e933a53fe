// steno/error.hpp - the one error type of the library and the one function that throws it.
//
// Loading and construction throw; a forward pass throws only when memory is out or it is cancelled, and loses one
// request then. A message reads
//   FILE: WHAT: expected EXPECTED, found FOUND (HINT)
// with the parts that are known. It is one line, whatever names a file holds: see printable(). Tested in
// tests/core/error_test.cpp and tests/weights/binder_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace steno {
inline namespace STENO_ABI {

namespace core {
namespace detail {
/// Bytes of the UTF-8 character that begins `s` and may stand on a terminal; 0 for a control character (C0, DEL, C1)
/// and for bytes that are no UTF-8.
inline std::size_t printable_bytes(std::string_view s) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<unsigned>(static_cast<unsigned char>(s[i])); };
  const unsigned first = at(0);
  if (first < 0x80) return first >= 0x20 && first != 0x7f ? 1 : 0;
  const std::size_t n = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || s.size() < n) return 0;
  unsigned code = first & (0x7fu >> n);
  for (std::size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xc0u) != 0x80u) return 0;
    code = code << 6 | (at(i) & 0x3fu);
  }
  constexpr unsigned least[] = {0, 0, 0xa0, 0x800, 0x10000};
  return code >= least[n] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? n : 0;
}
}  // namespace detail

/// `text` as it may stand in a line of a message: control characters (line breaks and terminal escapes among them) and
/// bytes that are no UTF-8 as \\xNN.
STENO_COLD inline std::string printable(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string s;
  while (!text.empty()) {
    const std::size_t n = detail::printable_bytes(text);
    if (n != 0) {
      s += text.substr(0, n);
    } else {
      const auto u = static_cast<unsigned char>(text[0]);
      s += "\\x";
      s += digits[u >> 4];
      s += digits[u & 15];
    }
    text.remove_prefix(n != 0 ? n : 1);
  }
  return s;
}

/// The parts of an error; all but `what` may be empty.
struct fault {
  std::string where = {};     ///< file (or other source) that is at fault
  std::string what;           ///< what is wrong, naming the tensor, key or byte offset
  std::string expected = {};  ///< with units or shape
  std::string found = {};     ///< with units or shape
  std::string hint = {};      ///< what the user can do
};
}  // namespace core

/// Thrown by everything in steno that loads, parses or constructs, and where scratch memory is out. what() is one line
/// without control characters; parts() are as they were given.
class error : public std::runtime_error {
 public:
  /// Puts the message of what() together from the parts and keeps them.
  STENO_COLD explicit error(core::fault parts) : std::runtime_error(compose(parts)), parts_(std::move(parts)) {}
  /// The parts that the message was made of, for programs that show or sort errors themselves.
  const core::fault& parts() const noexcept { return parts_; }

 private:
  STENO_COLD static std::string compose(const core::fault& f) {
    std::string s = f.where.empty() ? f.what : f.where + ": " + f.what;
    if (!f.expected.empty()) s += ": expected " + f.expected;
    if (!f.found.empty()) s += (f.expected.empty() ? ": found " : ", found ") + f.found;
    if (!f.hint.empty()) s += " (" + f.hint + ")";
    return core::printable(s);
  }
  core::fault parts_;
};

namespace core {
/// Thrown where a stop was requested (context::stop), instead of a result. What was under way is lost; model, context
/// and threads serve the next call.
class cancelled : public error {
 public:
  cancelled() : error({.what = "cancelled"}) {}
};

/// Thrown where memory is short: for the weights of a model, or for the scratch of a forward pass, also where a limit
/// of the caller's is what is short. This call is lost; what was there before serves the next one. Small allocations
/// throw std::bad_alloc.
class out_of_memory : public error {
 public:
  using error::error;
};
}  // namespace core

// Cold: what leads to it is compiled for size, which is what makes many clear messages cheap to compile.
/// Throws steno::error with these parts.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(core::fault f) { throw error(std::move(f)); }

}  // namespace STENO_ABI
}  // namespace steno

// steno/error.hpp - the one error type of the library and the one function that throws it.
//
// Loading and construction throw; forward passes are noexcept. A message reads
//   FILE: WHAT: expected EXPECTED, found FOUND (HINT)
// with the parts that are known. Tested in tests/weights/binder_test.cpp.
#pragma once
#include <steno/config.hpp>

#include <stdexcept>
#include <string>
#include <utility>

namespace steno::inline STENO_ABI {

/// The parts of an error; all but `what` may be empty.
struct fault {
  std::string where = {};     ///< file (or other source) that is at fault
  std::string what;           ///< what is wrong, naming the tensor, key or byte offset
  std::string expected = {};  ///< with units or shape
  std::string found = {};     ///< with units or shape
  std::string hint = {};      ///< what the user can do
};

/// Thrown by everything in steno that loads, parses or constructs. what() is one line.
class error : public std::runtime_error {
 public:
  explicit error(fault parts) : std::runtime_error(compose(parts)), parts_(std::move(parts)) {}
  const fault& parts() const noexcept { return parts_; }

 private:
  static std::string compose(const fault& f) {
    std::string s = f.where.empty() ? f.what : f.where + ": " + f.what;
    if (!f.expected.empty()) s += ": expected " + f.expected;
    if (!f.found.empty()) s += (f.expected.empty() ? ": found " : ", found ") + f.found;
    if (!f.hint.empty()) s += " (" + f.hint + ")";
    return s;
  }
  fault parts_;
};

// Cold: what leads to it is compiled for size, which is what makes many clear messages cheap to compile.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(fault f) { throw error(std::move(f)); }

}  // namespace steno::inline STENO_ABI

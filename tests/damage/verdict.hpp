// Whether a program did with a damaged file what is promised: it goes on or says in one clean line what is wrong where.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "damage/child.hpp"

namespace steno::damage {

/// What is wrong with how a program ended, the most severe first.
enum class trouble {
  memory_error,    ///< a signal such as SIGSEGV, or a sanitizer's report
  aborted,         ///< std::terminate, an assertion
  too_long,        ///< above the limit of time
  too_large,       ///< above the limit of memory, or as much was asked for
  exit_status,     ///< none of 0, 1, 2, 3
  taken_silently,  ///< what must be refused (NaN, matrices of integers) was taken
  control_bytes,   ///< on standard error or output
  no_file,         ///< a message without the model's name
  not_one_line,    ///< an error of no line or several
  no_place,        ///< a message without key or tensor
};
const char* name_of(trouble t);

/// What is expected of a case.
struct expectation {
  std::string file;                           ///< name that a message must hold
  std::vector<std::string> places;            ///< keys and tensors, one of which a message must hold; empty: anything
  std::optional<std::string> only_with = {};  ///< where given, exit status 0 is right with this output alone
  double seconds = 10;                        ///< of processor time
  std::uint64_t bytes = std::uint64_t{1} << 30;
};

/// The most severe trouble; nothing when all is well.
std::optional<trouble> judge(const ending& e, const expectation& x);

/// Whether `text` holds C0 (but for \n, \t and \r), DEL, C1 in UTF-8, or bytes that are no UTF-8.
bool has_control_bytes(const std::string& text);

}  // namespace steno::damage

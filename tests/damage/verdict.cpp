// SPDX-License-Identifier: Apache-2.0
#include "damage/verdict.hpp"

#include <algorithm>
#include <csignal>
#include <regex>

namespace steno::damage {
namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

bool sanitizer_report(const std::string& err) {
  return holds(err, "ERROR: AddressSanitizer") || holds(err, "runtime error:") || holds(err, "ERROR: LeakSanitizer") ||
         holds(err, "WARNING: ThreadSanitizer");
}
bool asked_for_too_much(const std::string& err) {
  return holds(err, "allocation-size-too-big") || holds(err, "out-of-memory") || holds(err, "bad_alloc") ||
         holds(err, "out of memory") || holds(err, "length_error");
}
bool names_place(const ending& e, const expectation& x) {
  return x.places.empty() ||
         std::any_of(x.places.begin(), x.places.end(), [&](const std::string& p) { return holds(e.err, p); });
}

// Without what the clock says.
std::string lasting(const std::string& out) {
  static const std::regex latency("\"latency_ms\":[0-9.e+-]+");
  return std::regex_replace(out, latency, "");
}

}  // namespace

const char* name_of(trouble t) {
  switch (t) {
    case trouble::memory_error:
      return "memory error";
    case trouble::aborted:
      return "abort";
    case trouble::too_long:
      return "too long";
    case trouble::too_large:
      return "too large";
    case trouble::exit_status:
      return "exit status";
    case trouble::taken_silently:
      return "taken silently";
    case trouble::control_bytes:
      return "control bytes";
    case trouble::no_file:
      return "message without the file";
    case trouble::not_one_line:
      return "message not of one line";
    case trouble::no_place:
      return "message without key or tensor";
  }
  return "?";
}

bool has_control_bytes(const std::string& text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto at = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
    const unsigned c = at(i);
    if (c < 0x80) {
      if ((c < 0x20 && c != '\n' && c != '\t' && c != '\r') || c == 0x7f) return true;
      ++i;
      continue;
    }
    const std::size_t more = c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : c >= 0xf0 && c < 0xf5 ? 3 : 0;
    if (more == 0 || (c == 0xc2 && at(i + 1) < 0xa0)) return true;
    for (std::size_t k = 1; k <= more; ++k)
      if ((at(i + k) & 0xc0u) != 0x80u) return true;
    i += more + 1;
  }
  return false;
}

std::optional<trouble> judge(const ending& e, const expectation& x) {
  if (e.timed_out || e.busy > x.seconds) return trouble::too_long;
  if (sanitizer_report(e.err)) return asked_for_too_much(e.err) ? trouble::too_large : trouble::memory_error;
  if (e.signal == SIGABRT) return trouble::aborted;
  if (e.signal != 0) return trouble::memory_error;
  if (e.peak_bytes > x.bytes || (e.code != 0 && asked_for_too_much(e.err))) return trouble::too_large;
  if (e.code < 0 || e.code > 3) return trouble::exit_status;
  if (has_control_bytes(e.err) || has_control_bytes(e.out)) return trouble::control_bytes;
  if (e.code == 0)
    return x.only_with && lasting(e.out) != lasting(*x.only_with) ? std::optional(trouble::taken_silently)
                                                                  : std::nullopt;
  if (std::count(e.err.begin(), e.err.end(), '\n') != 1 || e.err.back() != '\n') return trouble::not_one_line;
  if (!holds(e.err, x.file)) return trouble::no_file;
  // Weights whose products overflow: which tensor is to blame cannot be told then.
  if (holds(e.err, "scores of the model: expected numbers")) return std::nullopt;
  if (!names_place(e, x)) return trouble::no_place;
  return std::nullopt;
}

}  // namespace steno::damage

// Windows, where no other program is started.
// SPDX-License-Identifier: Apache-2.0
#include "ffmpeg.hpp"

namespace steno::app {
namespace {

constexpr const char* no_children = "steno starts no ffmpeg on Windows";

}  // namespace

bool has_ffmpeg(const std::string&) { return false; }

core::fault ffmpeg_is_missing(const std::string& where, std::string_view kind, const std::string&) {
  return {.where = where,
          .what = kind.empty() ? "cannot read it as audio: Format not recognised"
                               : "is " + std::string(kind) + ", which is read with ffmpeg",
          .hint = no_children};
}

std::unique_ptr<sample_source> open_with_ffmpeg(const std::string&, child_process::input, const std::string& where) {
  fail({.where = where, .what = no_children});
}

}  // namespace steno::app

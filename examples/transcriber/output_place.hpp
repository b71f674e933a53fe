// Where results go: standard output, one file for all inputs, or one file for each in a directory.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "inputs.hpp"
#include "output_file.hpp"
#include "screen.hpp"

namespace steno::app {

/// The files that a run reads, so that none is overwritten.
class read_files {
 public:
  read_files() = default;
  /// What the options name: the model and other models, lists, texts, and all of `inputs`.
  read_files(const options& o, const std::vector<input>& inputs);
  /// `what` is for the message: "model".
  void add(const std::string& path, const std::string& what);
  /// Throws stop when `output` is one of them, or a file in a folder that is one of them.
  void refuse(const std::string& output) const;

 private:
  using identity = std::pair<std::uint64_t, std::uint64_t>;
  std::map<identity, std::string> files_;
};

class output_place {
 public:
  /// `path` empty, "-" or /dev/stdout: standard output; a directory (or ending in a slash): one file for each input.
  /// Nothing that is there is changed, but a bad place is reported before any work. Throws steno::error when it cannot
  /// be written, stop when it would overwrite one of `reads`. `on` must outlive it.
  output_place(const std::string& path, read_files reads, screen& on);

  /// Beside each input, with its whole name: "talk.wav.srt".
  static output_place beside(read_files reads, screen& on);

  bool one_file_each() const { return beside_ || !folder_.empty(); }
  /// The next input; in a directory its file is its name with this extension, in the folder that it has, and the one
  /// before it is put in its place.
  void begin(const input& from, std::string_view extension);
  /// Appends and flushes; the first call for an input of a directory makes its file, even without any text. Throws
  /// steno::error when writing fails.
  void put(std::string_view text);
  /// What was written of this input in a directory goes, and what was there before stays.
  void drop();
  /// Nothing more comes: what was written is put in its place. Throws steno::error.
  void finish();

 private:
  output_place(read_files reads, screen& on) : reads_(std::move(reads)), screen_(&on), beside_(true) {}

  std::string folder_;
  read_files reads_;
  screen* screen_;
  bool beside_ = false;
  std::unique_ptr<output_file> file_;  // none: standard output
};

}  // namespace steno::app

// Where text goes: standard output, one file for all inputs, or one file for each in a directory.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inputs.hpp"

namespace steno::app {

class output_place {
 public:
  /// `path` empty: standard output; a directory (or ending in a slash): one file for each input. Opens what it can, so
  /// that a bad place is reported before any work. Throws steno::error when it cannot be written, stop when it would
  /// overwrite an input.
  output_place(const std::string& path, const std::vector<input>& inputs);

  bool one_file_each() const { return !folder_.empty(); }
  /// The next input; in a directory its file is its name with this extension.
  void begin(const input& from, std::string_view extension);
  /// Appends and flushes; the first call for an input of a directory makes its file, even without any text. Throws
  /// steno::error when writing fails.
  void put(std::string_view text);

 private:
  struct close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  using file = std::unique_ptr<std::FILE, close>;

  static file open(const std::string& path);

  std::string folder_;
  std::string path_;  // of the file; empty: standard output
  file file_;
};

}  // namespace steno::app

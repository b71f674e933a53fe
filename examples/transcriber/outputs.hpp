// Where results go: standard output, one file, or one file for each input.
#pragma once
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "inputs.hpp"

namespace steno::app {

class outputs {
 public:
  /// Opens what `o` asks for, so that a bad place is reported before any work. Throws steno::error when it cannot be
  /// written, stop when it would overwrite an input.
  outputs(const options& o, const std::vector<input>& inputs);

  /// The next input. Each call appends and flushes what it brings; throws steno::error when writing fails.
  void begin(const input& from);
  void heard(const segment& s);
  void end(const result& head);
  /// The input is not done and nothing follows: what was written becomes whole.
  void cut(double seconds_done);

 private:
  struct close {
    void operator()(std::FILE* f) const { std::fclose(f); }
  };
  using file = std::unique_ptr<std::FILE, close>;

  static file open(const std::string& path);
  void put(const std::string& text);

  format format_;
  std::string folder_;  // one file per input when not empty
  std::string path_;    // one file for all, or the present input's; empty: standard output
  file file_;
  writer writer_;
};

}  // namespace steno::app

// tools/trace/job.hpp - one run of steno-trace: a model, an input, settings of --set, and where stages go.
//
// Each family has a file of its own with one function; families.hpp says how it is found.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/weights/gguf.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno::trace {

/// The KEY=VALUE pairs of --set; each must be taken by the family.
class settings {
 public:
  /// Throws steno::error for a pair without "=".
  void add(const std::string& pair);
  std::string take(const std::string& key, const std::string& otherwise);
  bool take_flag(const std::string& key, bool otherwise);
  double take_real(const std::string& key, double otherwise);
  std::int64_t take_number(const std::string& key, std::int64_t otherwise);
  /// Throws steno::error when a key is left that nobody took.
  void finish() const;

 private:
  std::map<std::string, std::string> values_;
};

struct job {
  gguf_file file;
  std::string input;  ///< path
  settings set;
  std::filesystem::path out;
  std::string only;   ///< glob over names
  executor run = {};  ///< what contexts work with

  /// Where a context's tracer leads: writes `out`/NAME.npy, NAME = name(path) of the model. An empty name is not
  /// written.
  auto sink(std::string (*name)(std::string_view path)) const {
    return [this, name](std::string_view path, const view<const float>& x) { write(name(path), x); };
  }
  void write(const std::string& name, const view<const float>& x) const;
  /// Values of any shape, in C order.
  void write(const std::string& name, std::span<const float> values, const std::vector<std::int64_t>& shape) const;
};

/// All samples of a mono recording at `rate`. Throws steno::error.
std::vector<float> read_audio(const std::string& path, int rate);

}  // namespace steno::trace

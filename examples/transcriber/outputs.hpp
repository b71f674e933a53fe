// Where results go: standard output, one file, or one file for each input; of several formats, one of each.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "inputs.hpp"
#include "output_place.hpp"
#include "writers.hpp"

namespace steno::app {

class outputs {
 public:
  /// Looks at what `o` asks for, so that a bad place is reported before any work. Throws steno::error when it cannot
  /// be written, stop when it would overwrite what the run reads. `on` must outlive it.
  outputs(const options& o, const std::vector<input>& inputs, screen& on);

  bool one_file_each() const { return all_.front().place->one_file_each(); }
  /// How the model's users are used to see its results.
  void follow(style usual);
  /// The next input. Each call appends and flushes what it brings; throws steno::error when writing fails.
  void begin(const input& from);
  /// `channel`: from 1 on, where the segment is of one.
  void heard(const segment& s, std::optional<int> channel = {});
  void end(const result& head);
  /// The input is not done and nothing follows: what was written becomes whole.
  void cut(double seconds_done);
  /// The same where one file each goes into a directory, and only whole ones are wanted: nothing of it stays.
  void drop();
  /// Nothing more comes: files get their names. Throws steno::error.
  void finish();

 private:
  // A format, and where it goes.
  struct output {
    steno::app::format format;
    std::unique_ptr<output_place> place;
    steno::app::writer writer;
  };
  void put(output& to, const std::string& text);
  void renew(output& of, bool one_file);

  layout layout_;
  style usual_ = style::usual;  // of the model
  bool several_;
  std::vector<output> all_;
};

}  // namespace steno::app

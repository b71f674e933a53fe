// What a run over many recordings has done, so that the next one goes on: a list beside the results.
//
// DIR/.steno-done holds a line of JSON for each input whose files are whole, .steno-done-I-of-N those of a shard. All
// of them are read; a line counts when the recording is as long and as old as it was, the model has the same name, and
// the files are there. Shards may run at the same time: each appends to its own list. Tested in
// tests/programs/steno_resume_test.cpp.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "inputs.hpp"

namespace steno::app {

class done_list {
 public:
  /// Reads the lists in `folder`. Lines that cannot be read are as if they were not there: their inputs are done again.
  done_list(const std::string& folder, const options& o);

  bool holds(const input& in) const;
  /// The files of `in` are whole. Throws steno::error when it cannot be written.
  void add(const input& in);

 private:
  std::string line_of(const input& in) const;
  bool files_are_there(const input& in) const;

  std::string folder_, own_, model_;
  std::vector<format> formats_;
  double offset_, duration_;
  std::map<std::string, std::string> lines_;  // by input's name
};

}  // namespace steno::app

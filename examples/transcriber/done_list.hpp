// What a run over many recordings has done, so that the next one goes on: lists beside the results.
//
// DIR/.steno-done/ holds lists of JSON lines. done*.jsonl has one for each input whose files are whole, failed*.jsonl
// one for each that failed, with the reason, damaged*.jsonl one for each that is done as far as it could be heard. Each
// run writes lists of its own, done-I-of-N.jsonl for a shard, with a number behind where one of that name is there: so
// no file has two writers, also where shards run on several machines over a network file system or a shard is started
// again while its first process still lives. All lists are read; a line of done counts when the recording is as long
// and as old as it was, the model has the same name, the options that may change results are the same, and the files
// are there. Tested in tests/programs/steno_resume_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <string>
#include <vector>

#include "inputs.hpp"

namespace steno::app {

/// Lines that one process appends to a file of its own, which the first line makes.
class line_file {
 public:
  /// FOLDER/NAME.jsonl, or FOLDER/NAME.2.jsonl where that is there, and so on.
  line_file(std::string folder, std::string name) : folder_(std::move(folder)), name_(std::move(name)) {}
  /// Brings it to the file system's keeper before it returns (a network's, too). Throws steno::error when it cannot be
  /// written.
  void append(const std::string& line);
  /// Empty: there is none yet.
  const std::string& path() const { return path_; }

 private:
  void make();

  std::string folder_, name_, path_;
};

class done_list {
 public:
  /// Of the results in `folder`, where nothing is made before there is a line.
  done_list(const std::string& folder, const options& o);

  /// What is known of a list of inputs.
  struct state {
    std::vector<std::size_t> done;                    ///< how often each was done; 0: it is left
    std::map<std::size_t, std::string> reasons = {};  ///< of those that failed
  };
  /// Lines that cannot be read are as if they were not there: their inputs are done again.
  state look_up(const std::vector<input>& inputs) const;

  /// The files of `in` are whole. Throws steno::error when it cannot be written.
  void add(const input& in);
  /// `in` failed. Throws steno::error when it cannot be written.
  void add_failure(const input& in, const std::string& reason);
  /// `in` is done as far as it can be heard. Throws steno::error when it cannot be written.
  void add_damage(const input& in, const std::string& what);
  /// Where failures are listed; empty: there was none.
  const std::string& failures() const { return failed_.path(); }

 private:
  std::string line_of(const input& in) const;
  bool files_are_there(const input& in) const;

  std::string folder_, model_;
  std::vector<format> formats_;
  std::vector<std::string> settings_;
  line_file done_, failed_, damaged_;
};

}  // namespace steno::app

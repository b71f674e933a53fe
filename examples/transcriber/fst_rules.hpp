// Rewriting of text by a weighted finite-state transducer, through OpenFst. C++17 alone, and no header of steno's: the
// OpenFst of Debian 12 does not compile as C++20.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <mutex>
#include <string>

namespace steno::app {

/// A transducer whose labels are bytes. Calls wait for each other, because OpenFst keeps what it finds out about one.
class fst_rules {
 public:
  /// An .fst file, or the transducer that is called `name` in a .far archive. Null, and why in `problem`, where there
  /// is none that could be used.
  static std::unique_ptr<fst_rules> read(const std::string& path, const std::string& name, std::string& problem);
  ~fst_rules();
  /// The output of the best path that accepts all of `text`. Returns whether there is one; bytes of zero are left out.
  bool rewrite(const std::string& text, std::string& output) const;

 private:
  struct transducer;
  explicit fst_rules(std::unique_ptr<transducer> graph);
  std::unique_ptr<transducer> graph_;
  mutable std::mutex one_at_a_time_;
};

}  // namespace steno::app

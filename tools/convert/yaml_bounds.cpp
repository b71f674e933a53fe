// tools/convert/yaml_bounds.cpp - see yaml_bounds.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "yaml_bounds.hpp"

#include <yaml-cpp/eventhandler.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <vector>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

struct amount {
  std::size_t values = 0, bytes = 0, levels = 0;
};

class counter : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& at, YAML::anchor_t anchor) override { leaf(at, anchor, {1, 0, 0}); }
  void OnScalar(const YAML::Mark& at, const std::string&, YAML::anchor_t anchor, const std::string& value) override {
    leaf(at, anchor, {1, value.size(), 0});
  }
  void OnAlias(const YAML::Mark& at, YAML::anchor_t anchor) override {
    const auto named = anchors_.find(anchor);
    if (named == anchors_.end()) throw YAML::Exception(at, "an alias stands inside of what it repeats");
    leaf(at, 0, named->second);
  }
  void OnSequenceStart(const YAML::Mark& at, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    enter(at, anchor);
  }
  void OnSequenceEnd() override { leave(); }
  void OnMapStart(const YAML::Mark& at, const std::string&, YAML::anchor_t anchor, YAML::EmitterStyle::value) override {
    enter(at, anchor);
  }
  void OnMapEnd() override { leave(); }

 private:
  struct open_node {
    YAML::anchor_t anchor;
    amount inside;
  };

  // No sum overflows: every part is within the limits, and the first sum that is not ends the pass.
  void leaf(const YAML::Mark& at, YAML::anchor_t anchor, const amount& a) {
    if (anchor != 0) anchors_[anchor] = a;
    if (open_.empty()) open_.push_back({0, {}});
    amount& sum = open_.back().inside;
    sum.values += a.values;
    sum.bytes += a.bytes;
    sum.levels = std::max(sum.levels, a.levels + 1);
    total_.values += a.values;
    total_.bytes += a.bytes;
    if (total_.values > limits::yaml_values || total_.bytes > limits::yaml_expanded)
      throw YAML::Exception(at, "it holds more settings than any config does");
    if (open_.size() + a.levels > limits::depth) throw YAML::Exception(at, "it is nested too deeply");
  }
  void enter(const YAML::Mark& at, YAML::anchor_t anchor) {
    leaf(at, 0, {1, 0, 0});
    open_.push_back({anchor, {1, 0, 0}});
  }
  void leave() {
    const open_node done = open_.back();
    open_.pop_back();
    if (done.anchor != 0) anchors_[done.anchor] = done.inside;
    if (open_.empty()) return;
    amount& sum = open_.back().inside;
    sum.values += done.inside.values - 1;  // enter() counted the node itself
    sum.bytes += done.inside.bytes;
    sum.levels = std::max(sum.levels, done.inside.levels + 1);
  }

  std::vector<open_node> open_;
  std::map<YAML::anchor_t, amount> anchors_;
  amount total_;
};

}  // namespace

void check_yaml_bounds(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  counter count;
  parser.HandleNextDocument(count);  // the only one that is read
}

}  // namespace STENO_ABI
}  // namespace steno

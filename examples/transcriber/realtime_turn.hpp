// A turn of a realtime session: its audio goes to the model as it comes, and its text grows.
//
// Tested through tests/programs/steno_realtime_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "itn.hpp"
#include "live.hpp"

namespace steno::app {

class realtime_turn {
 public:
  /// `id` of its item; `begin` in seconds of the session. Models and detector of `beside` must outlive it, and
  /// `figures`, which rewrites what is final: its text grows by utterances then. Null: nothing does.
  realtime_turn(std::string id, double begin, const transcriber& model, const session_options& o,
                const pipelines::session_models& beside, const inverse_text_normaliser* figures);

  /// Samples at the model's rate. Returns what the text goes on with: that does not change any more.
  std::string push(std::span<const float> pcm);
  /// No samples follow; returns the same.
  std::string finish();

  const std::string& id() const { return id_; }
  std::size_t samples() const { return samples_; }
  /// Where it begins, in seconds of the session.
  double begin() const { return begin_; }
  /// All of the text, when it is finished.
  const std::string& text() const { return settled_; }
  /// What that is made of, with times in seconds of the session.
  const std::vector<segment>& segments() const { return segments_; }
  /// Why it has no text: its memory is gone already. Empty: nothing is wrong.
  const std::string& failure() const { return failure_; }
  bool short_of_memory() const { return short_; }

 private:
  template <class F>
  std::string heard(F&& f);
  void take(const session_event& e);

  const std::string id_;
  const double begin_;
  const inverse_text_normaliser* const figures_;
  std::optional<live_stream> stream_;
  std::string settled_, stable_, told_;  // of utterances that are final; with what is sure of the next; told already
  std::vector<segment> segments_;
  std::size_t samples_ = 0;
  std::string failure_;
  bool short_ = false;
};

}  // namespace steno::app

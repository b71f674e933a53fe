// Who spoke in the turns of a realtime session: a diarizer hears all of its audio, and what was said in a turn is cut
// by speakers as soon as they are settled. Names hold for the whole session.
//
// Tested through tests/programs/steno_realtime_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>
#include <steno/pipelines/speaker_labels.hpp>

#include <deque>
#include <span>
#include <string>
#include <vector>

#include "speaker_model.hpp"

namespace steno::app {

class realtime_speakers {
 public:
  /// A part of a turn, by one speaker.
  struct part {
    std::string item;  ///< the turn's
    segment said = {};
  };

  /// The first sample lies at `begin`. Times are seconds of the session, here and below. `m` must outlive it.
  realtime_speakers(const speaker_model& m, double begin);

  /// Samples at the model's rate.
  void push(std::span<const float> pcm);
  /// What was said in a turn; turns come in their order.
  void add(const std::string& item, const std::vector<segment>& said);
  /// No turn that is still to be added begins before this.
  void forget(double seconds);
  /// No samples follow.
  void end();
  /// What is settled since the last call, in order.
  std::vector<part> take();

 private:
  const double begin_;
  context scratch_;
  pipelines::speaker_labels who_;
  std::deque<std::string> items_;  // of the segments that wait
};

}  // namespace steno::app

// steno/pipelines/attributed_session.hpp - a session whose utterances have speakers.
//
//   any_session s(transcriber, diarizer, {}, context);    // events as without, and who spoke
//
// The recogniser's session and a diarizer get the same samples. A final result waits until its speakers are settled,
// and then has them for good: the utterance's and each word's. What follows waits behind it; of partial results only
// the last one, which has no speaker yet. Samples are looked at in steps of 10 ms, so the portions of push() make no
// difference. Tested in tests/pipelines/any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/diarizer.hpp>
#include <steno/pipelines/interfaces.hpp>
#include <steno/pipelines/speaker_labels.hpp>
#include <steno/streaming/session.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// How utterances get their speakers.
struct speaker_session_options {
  diarize_options diarization = {};              ///< of the diarizer
  speaker_attribution_options attribution = {};  ///< of words; `split` is split_on_speaker
  /// An utterance ends where the speaker changes: its final result comes as one for each turn.
  bool split_on_speaker = false;
};

namespace detail {

class attributed_session final : public session_interface {
 public:
  attributed_session(std::unique_ptr<session_interface> words, int sample_rate, const diarizer& d,
                     const speaker_session_options& o)
      : words_(std::move(words)), who_(checked(d, sample_rate), o.diarization, rule(o)) {}

  void push(std::span<const float> pcm, context& c, core::sink_ref<session_event> sink) override {
    while (!pcm.empty() && !over()) {
      const auto part = pcm.first(std::min(pcm.size(), step - into_));
      pcm = pcm.subspan(part.size());
      into_ = (into_ + part.size()) % step;
      who_.push(part, c);
      words_->push(part, c, [this](session_event e) { take(std::move(e)); });
      if (into_ == 0) emit(sink);
    }
  }
  void finish(context& c, core::sink_ref<session_event> sink) override {
    if (over()) return;
    words_->finish(c, [this](session_event e) { take(std::move(e)); });
    who_.close(c);
    emit(sink);
  }
  bool over() const override { return words_->over() && waiting_.empty(); }

 private:
  static constexpr std::size_t step = 160;  // samples

  STENO_COLD static const diarizer& checked(const diarizer& d, int sample_rate) {
    if (sample_rate != diarizer::sample_rate)
      fail({.what = "sample rate of a model whose utterances get speakers",
            .expected = std::to_string(diarizer::sample_rate),
            .found = std::to_string(sample_rate)});
    if (!d.streams()) fail({.what = "this model of speakers takes whole recordings", .expected = "one for streams"});
    return d;
  }
  static speaker_attribution_options rule(const speaker_session_options& o) {
    speaker_attribution_options a = o.attribution;
    a.split = o.split_on_speaker;
    return a;
  }

  // A partial result is replaced by the next one.
  void take(session_event e) {
    if (!waiting_.empty() && !waiting_.back().final()) waiting_.pop_back();
    from_ = e.utterance.start;
    if (e.final()) who_.add(e.utterance);
    waiting_.push_back(std::move(e));
  }
  STENO_ON_CALL void emit(core::sink_ref<session_event>& sink) {
    while (!waiting_.empty()) {
      if (waiting_.front().final()) {
        turns_.clear();
        if (!who_.take_one([this](segment s) { turns_.push_back(std::move(s)); })) break;
      }
      session_event e = std::move(waiting_.front());
      waiting_.pop_front();
      if (!e.final())
        sink(std::move(e));
      else
        emit_turns(std::move(e), sink);
    }
    who_.forget(from_);
  }
  // What the recogniser says of the whole is not true of its pieces.
  STENO_ON_CALL STENO_COLD void emit_turns(session_event e, core::sink_ref<session_event>& sink) {
    if (turns_.size() == 1) {
      e.utterance = std::move(turns_.front());
      sink(std::move(e));
      return;
    }
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const bool last = i + 1 == turns_.size();
      session_event part;
      part.kind = e.kind;
      part.endpoint = last ? e.endpoint : endpoint_kind::speaker_change;
      part.utterance = std::move(turns_[i]);
      part.utterance.score.reset();
      part.stable = part.utterance.text;
      part.stop = e.stop;
      if (last) part.eot_confidence = e.eot_confidence;
      part.nbest.push_back({part.utterance.text, {}, {}});
      sink(std::move(part));
    }
  }

  std::unique_ptr<session_interface> words_;
  speaker_labels who_;
  std::deque<session_event> waiting_;
  std::vector<segment> turns_;
  double from_ = 0;       // where the last utterance began
  std::size_t into_ = 0;  // samples of the present step
};

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno

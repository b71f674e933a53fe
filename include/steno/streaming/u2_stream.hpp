// steno/streaming/u2_stream.hpp - a U2 model listening: samples in any portions, partial and final results out.
//
// Samples become features, features chunks, chunks log-probabilities; a prefix beam search follows, and at an endpoint
// or at the end its n-best list is rescored by the decoder. Follows `AsrDecoder` (runtime/core/decoder/asr_decoder.cc):
//   first chunk   (chunk - 1) rate + right context + 1 frames, later ones chunk rate, with the overlap kept from before
//   endpoint      looked for after every whole chunk; then final result, caches and positions from 0, overlap dropped
//   end           what is left is decoded if it still makes a row
// The portions of push() make no difference: a chunk is decoded as soon as its features are there. The ids that all
// hypotheses share are stable: no later result of the utterance changes them. Tested in
// tests/streaming/u2_stream_test.cpp and tests/parity/wenet_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/sorting.hpp>
#include <steno/models/u2.hpp>
#include <steno/segmentation/ctc_endpoint.hpp>
#include <steno/streaming/stream_event.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace wenet {

/// How a stream is decoded.
struct u2_stream_options {
  extent chunk_size = 16;   ///< encoder frames; not positive: everything at finish()
  extent left_chunks = -1;  ///< chunks kept in the attention's caches; negative: all, and a stream's cost grows
  steno::search::ctc_beam_options beam =
      {};                      ///< with the hotwords, which must outlive the stream; its blank is the model's
  float blank_penalty = 0;     ///< subtracted from the blank's logit
  bool rescore = true;         ///< final results by attention rescoring; keeps the encoder's rows of the utterance
  double ctc_weight = 0.5;     ///< of the CTC score that rescoring adds to the decoder's
  double reverse_weight = -1;  ///< of the right-to-left decoder; negative: the checkpoint's own
  bool endpoints = true;       ///< utterances end by the rules of `endpoint`
  bool continuous = true;      ///< after an endpoint the next utterance begins; otherwise the stream is over
  segmentation::endpoint_options endpoint = {};  ///< when an utterance ends; its blank is the model's
  /// Utterances end at this many encoder frames; 0: never. The original cannot go beyond 5000 (its table of positions).
  extent max_utterance_frames = 0;
};

/// Partial or final.
using u2_event_kind = streaming::stream_event_kind;

/// What a sink gets. Spans live as long as the call.
struct u2_event : streaming::stream_event {
  /// Final results: best first, scores with the decoder's part; empty in partial results.
  std::span<const steno::search::ctc_hypothesis> nbest = {};
  std::span<const rescored> rescoring = {};  ///< in the order of nbest; empty without rescoring
};

/// One stream of a u2. A stream and the context that is handed to it are one thread's at a time.
template <class Model>
class u2_stream {
 public:
  /// The model must outlive the stream.
  explicit u2_stream(const Model& model, const u2_stream_options& options = {})
      : model_(&model),
        options_(checked(options, model)),
        search_(options_.beam),
        endpoint_(options_.endpoint, static_cast<int>(model.frame_ms())) {
    reset();
  }

  const Model& model() const noexcept { return *model_; }  ///< it decodes with
  /// Those it was made with, within their limits.
  const u2_stream_options& options() const noexcept { return options_; }
  bool over() const noexcept { return over_; }  ///< after finish(), or an endpoint that does not continue
  /// Milliseconds of audio that were decoded.
  extent decoded_ms() const noexcept { return frames_read_ * frame_shift(); }

  /// Back to the start of a stream; memory is kept.
  void reset() {
    front_ = model_->frontend.start();
    features_.clear();
    taken_ = 0;
    frames_read_ = utterance_from_ = 0;
    over_ = false;
    begin_utterance();
  }

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(const u2_event&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    // Small portions, so that a long push needs no more memory than a short one.
    constexpr std::size_t portion = 16000;
    while (!pcm.empty() && !over_) {
      const auto piece = pcm.first(std::min(portion, pcm.size()));
      pcm = pcm.subspan(piece.size());
      const extent n = model_->frontend.ready(front_, static_cast<extent>(piece.size()));
      model_->frontend.accept(front_, piece, room(n), c);
      while (!over_ && required() <= queued()) advance(required(), true, c, sink);
    }
  }

  /// Ends the stream: decodes what is left and gives the last final result.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    if (over_) return;
    const extent n = model_->frontend.at_end(front_, 0);
    model_->frontend.finish(front_, frontends::samples{}, room(n), c);
    while (!over_ && required() <= queued()) advance(required(), true, c, sink);
    if (over_) return;
    advance(queued(), false, c, sink);
    conclude(false, c, sink);
    over_ = true;
  }

 private:
  static u2_stream_options checked(u2_stream_options o, const Model& m) {
    o.beam.blank = o.endpoint.blank = m.blank;
    return o;
  }
  extent frame_shift() const noexcept { return static_cast<extent>(model_->frontend.head.options().frame_shift); }
  extent rate() const noexcept { return model_->encoder.template get<"embed">().rate.get(); }
  extent window() const noexcept { return model_->encoder.template get<"embed">().right_context() + 1; }
  extent width() const noexcept { return model_->frontend.width(); }

  // Frames that wait beyond the overlap, and how many the next chunk takes.
  extent queued() const noexcept { return static_cast<extent>(features_.size()) / width() - taken_ - overlap_; }
  extent required() const noexcept {
    if (options_.chunk_size <= 0) return std::numeric_limits<extent>::max();
    return started_ ? options_.chunk_size * rate() : (options_.chunk_size - 1) * rate() + window();
  }

  view<float> room(extent rows) {
    if (taken_ > 0) {  // what was used up goes; a chunk is short, so little moves
      features_.erase(features_.begin(), features_.begin() + taken_ * width());
      taken_ = 0;
    }
    const std::size_t old = features_.size();
    features_.resize(old + static_cast<std::size_t>(rows * width()));
    return core::make_view(features_.data() + old, rows, width());
  }

  void begin_utterance() {
    nn::restart(model_->encoder, state_);
    utterance_rows_ = 0;
    search_.reset();
    endpoint_.reset();
    encoded_.clear();
    started_ = false;
    overlap_ = 0;
  }
  template <class Sink>
  void advance(extent frames, bool whole, context& c, Sink&& sink) {
    const extent total = overlap_ + frames, d = model_->encoder.output_size();
    frames_read_ += frames;
    bool ended = false;
    if (total >= window()) {
      core::workspace::frame scratch(c.scratch);
      const extent rows = model_->encoder.rows(total);
      auto y = scratch.template matrix<dynamic, Model::encoder_type::output>(rows, d);
      const auto x = core::make_view<dynamic, Model::encoder_type::input>(
          static_cast<const float*>(features_.data()) + taken_ * width(), total, width());
      const extent left = options_.left_chunks < 0 ? -1 : options_.left_chunks * options_.chunk_size;
      model_->encoder(x, y, &state_, nn::u2_env{.keep = left}, c);
      utterance_rows_ += rows;
      if (options_.rescore) encoded_.insert(encoded_.end(), y.data(), y.data() + rows * d);
      auto scores = scratch.matrix(rows, model_->tokenizer.size());
      model_->score(y, options_.blank_penalty, scores, c);
      search_.advance(core::read(scores));
      if (whole && options_.endpoints) ended = endpoint_.advance(core::read(scores), search_.ids(0).size() > 0);
      if (options_.max_utterance_frames > 0)
        ended = ended || (whole && utterance_rows_ + options_.chunk_size > options_.max_utterance_frames);
    }
    const extent kept = std::min(total, window() - rate());
    taken_ += total - kept;
    overlap_ = kept;
    started_ = true;
    if (!whole) return;
    if (ended) return conclude(true, c, sink);
    if (search_.ids(0).empty()) return;
    u2_event e = event(u2_event_kind::partial);
    e.ids = search_.ids(0);
    e.times = search_.times(0);
    e.stable = stable();
    e.score = search_.score(0);
    sink(static_cast<const u2_event&>(e));
  }

  template <class Sink>
  void conclude(bool endpoint, context& c, Sink&& sink) {
    search_.finish();
    nbest_.clear();
    for (extent i = 0; i < search_.size(); ++i) nbest_.push_back(search_.hypothesis(i));
    rescored_.clear();
    if (options_.rescore && !encoded_.empty()) rank(c);
    u2_event e = event(u2_event_kind::final);
    e.endpoint = endpoint;
    e.ids = nbest_[0].ids;
    e.times = nbest_[0].times;
    e.stable = static_cast<extent>(e.ids.size());
    e.score = rescored_.empty() ? nbest_[0].score : rescored_[0].score;
    e.nbest = nbest_;
    e.rescoring = rescored_;
    sink(static_cast<const u2_event&>(e));
    if (!endpoint) return;
    over_ = !options_.continuous;
    taken_ += overlap_;
    utterance_from_ = frames_read_;
    begin_utterance();
  }

  // The n-best list by its scores with the decoder's part; of equal ones the earlier stays in front.
  void rank(context& c) {
    const extent d = model_->encoder.output_size();
    const view<const float> rows =
        core::make_view(static_cast<const float*>(encoded_.data()), static_cast<extent>(encoded_.size()) / d, d);
    std::vector<rescored> all = model_->rescore(rows, nbest_, options_.ctc_weight, options_.reverse_weight, c);
    std::vector<std::size_t> order;
    core::sort_places(order, all.size(), [&](std::size_t a, std::size_t b) { return all[a].score > all[b].score; });
    std::vector<steno::search::ctc_hypothesis> sorted;
    for (const std::size_t i : order) {
      sorted.push_back(std::move(nbest_[i]));
      rescored_.push_back(std::move(all[i]));
    }
    nbest_ = std::move(sorted);
  }

  u2_event event(u2_event_kind kind) const {
    u2_event e;
    e.kind = kind;
    e.offset_ms = utterance_from_ * frame_shift();
    e.decoded_ms = decoded_ms();
    return e;
  }
  // All later hypotheses grow from the present ones, so what these share stays.
  extent stable() const noexcept {
    const std::span<const int> first = search_.ids(0);
    std::size_t n = first.size();
    for (extent i = 1; i < search_.size(); ++i) {
      const std::span<const int> other = search_.ids(i);
      n = std::min(n, other.size());
      std::size_t same = 0;
      while (same < n && first[same] == other[same]) ++same;
      n = same;
    }
    return static_cast<extent>(n);
  }

  const Model* model_;
  u2_stream_options options_;
  typename decltype(Model::frontend)::state front_;
  typename Model::encoder_type::state state_;
  extent utterance_rows_ = 0;  // of the encoder, so far
  steno::search::ctc_prefix_beam search_;
  segmentation::ctc_endpoint endpoint_;
  std::vector<float> features_;  // rows that wait; the first taken_ are used up, then comes the overlap
  std::vector<float> encoded_;   // encoder rows of the utterance
  std::vector<steno::search::ctc_hypothesis> nbest_;
  std::vector<rescored> rescored_;
  extent taken_ = 0, overlap_ = 0, frames_read_ = 0, utterance_from_ = 0;
  bool started_ = false, over_ = false;
};

}  // namespace wenet
}  // namespace STENO_ABI
}  // namespace steno

// steno/streaming/sortformer_stream.hpp - who speaks when, while they speak.
//
//   sortformer_stream s(model, model.streaming);
//   s.push(pcm, context, sink);          // any number of samples, again and again
//   s.finish(context, sink);             // sink(const sortformer_event&)
//
// Chunks of chunk_len rows (80 ms each) are encoded with the rows next to them and with what a speaker_cache kept, so a
// step's cost and the memory do not grow. What was emitted is final; it comes chunk_right_context rows after the chunk.
// `SortformerEncLabelModel.forward_streaming`, `SortformerModules.streaming_feat_loader`. The portions of push() make
// no difference. Tested in tests/parity/sortformer_test.cpp (golden chunks and states) and
// tests/streaming/sortformer_stream_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/sortformer.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Rows that are final. The view is valid during the call.
struct sortformer_event {
  extent first = 0;              ///< number of the first row
  view<const float> activities;  ///< [rows, speakers], probabilities
};

/// One stream of a model, which must outlive it. A stream and the context that is handed to it are one thread's at a
/// time. Copyable. Once it is warm, pushing allocates nothing.
template <class Model>
class sortformer_stream {
 public:
  /// Throws steno::error when the model cannot take streams, or for lengths that make no sense.
  sortformer_stream(const Model& m, const nn::speaker_cache_options& o)
      : model_(&m),
        front_((check(m, o), m.frontend.start())),
        state_(o, m.encoder.output_size(), m.speakers()),
        activities_(static_cast<std::size_t>(o.chunk_len * m.speakers())) {}
  /// With the lengths and rates of the model's file.
  explicit sortformer_stream(const Model& m) : sortformer_stream(m, m.streaming) {}

  /// More 16 kHz mono samples in [-1, 1], any number of them; sink(const sortformer_event&) is called for every chunk.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    constexpr std::size_t portion = Model::sample_rate;  // bounds the features that wait
    while (!pcm.empty()) {
      const auto part = pcm.first(std::min(portion, pcm.size()));
      pcm = pcm.subspan(part.size());
      model_->frontend.accept(front_, part, room(model_->frontend.ready(front_, static_cast<extent>(part.size()))), c);
      while (frames() >= next_ + rate * (options().chunk_len + options().chunk_right_context)) step(c, sink);
    }
  }
  /// The end: decodes what is left. Afterwards the stream is as a new one.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    model_->frontend.finish(front_, frontends::samples{}, room(model_->frontend.at_end(front_, 0)), c);
    while (next_ < frames()) step(c, sink);
    *this = sortformer_stream(*model_, options());
  }

  const Model& model() const noexcept { return *model_; }                                 ///< it works with
  const nn::speaker_cache_options& options() const noexcept { return state_.options(); }  ///< those it was made with
  /// What is remembered.
  const nn::speaker_cache& state() const noexcept { return state_; }
  /// Rows that were emitted.
  extent rows() const noexcept { return rows_; }

 private:
  static constexpr extent rate = 8;

  STENO_COLD static void check(const Model& m, const nn::speaker_cache_options& o) {
    if (const char* why = m.obstacle())
      fail({.what = "this model takes whole recordings, not streams: " + std::string(why),
            .hint = "without sortformer.streaming_mode a file is not taken for a stream"});
    check_speaker_cache(o, m.speakers(), "");
  }
  extent width() const noexcept { return model_->frontend.width(); }
  /// Frames of the stream so far.
  extent frames() const noexcept { return dropped_ + static_cast<extent>(features_.size()) / width(); }
  view<float> room(extent count) {
    const extent unused = std::max<extent>(0, next_ - rate * options().chunk_left_context - dropped_);
    features_.erase(features_.begin(), features_.begin() + unused * width());
    dropped_ += unused;
    const std::size_t old = features_.size();
    features_.resize(old + static_cast<std::size_t>(count * width()));
    return core::make_view(features_.data() + old, count, width());
  }

  template <class Sink>
  void step(context& c, Sink& sink) {
    const extent end = std::min(next_ + rate * options().chunk_len, frames());
    const extent before = std::min(next_, rate * options().chunk_left_context),
                 after = std::min(frames() - end, rate * options().chunk_right_context);
    const auto x = core::make_view(static_cast<const float*>(features_.data()) + (next_ - before - dropped_) * width(),
                                   before + end - next_ + after, width());
    const extent left = before / rate, right = (after + rate - 1) / rate;
    const extent n = model_->encoder.rows(x.rows()) - left - right;
    auto y = core::make_view(activities_.data(), n, model_->speakers());
    {
      auto scope = c.enter("chunk", chunk_++);
      model_->step(x, left, right, state_, y, c);
    }
    next_ = end;
    rows_ += n;
    sink(sortformer_event{.first = rows_ - n, .activities = core::read(y)});
  }

  const Model* model_;
  typename decltype(Model::frontend)::state front_;
  nn::speaker_cache state_;
  std::vector<float> activities_;  // of a chunk
  std::vector<float> features_;    // rows from frame dropped_ on
  extent dropped_ = 0, next_ = 0, rows_ = 0, chunk_ = 0;
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno

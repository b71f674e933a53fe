// steno/streaming/parakeet_window_stream.hpp - any Parakeet listening: each piece is encoded anew between what came
// before and what comes behind it.
//
//   for every `middle` seconds: encode [left | middle | right]; the middle's rows go on with the search
//
// For models that were not trained for caches. Latency is middle + right, the cost of a second (left + middle + right)
// / middle times the encoder's. Labels of a greedy search never change. The rows are those of parakeet_windows when
// such a recording is not encoded whole. NeMo `StreamingBatchedAudioBuffer` (streaming_utils.py) in
// speech_to_text_streaming_infer_rnnt.py; models that were trained to look behind each chunk (parakeet-unified) see
// their mask inside of a window. Tested in tests/streaming/parakeet_window_stream_test.cpp and
// tests/parity/nemotron_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/streaming/parakeet_placed.hpp>
#include <steno/streaming/parakeet_stream.hpp>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// What rows see inside of the windows of a stream: `left` rows before a chunk of `middle` rows and `right` behind it,
/// counted from the window's first row (`chunked_limited_with_rc`).
inline nn::attention_window chunks_with_right(const window_rows& w) noexcept {
  return {.chunk = w.middle, .left = -1, .back = w.left, .right = w.right};
}

/// One stream; the model outlives it. Memory: the samples of a window, and the tokens that were not forgotten.
template <class Model>
class parakeet_window_stream {
 public:
  /// Seconds; `whole` is not read.
  static constexpr parakeet_windows default_sizes{.whole = 0, .left = 10, .middle = 2, .right = 2};

  /// The sizes of a model's windows where no others are given: the largest that it was trained with, or
  /// default_sizes.
  static window_rows rows_of(const Model& m) {
    const nemo_stream_windows& w = m.stream_windows;
    if (w.empty()) return {default_sizes, m.frame_seconds()};
    const auto largest = [](const std::vector<int>& all) { return *std::max_element(all.begin(), all.end()); };
    window_rows rows(largest(w.left), largest(w.chunk), largest(w.right));
    rows.fills = true;
    return rows;
  }
  /// What the rows of a window see: their chunks' mask in models that were trained with one, else the model's own.
  static parakeet_encoding encoding_of(const Model& m, const window_rows& w) {
    if (m.stream_windows.empty()) return {};
    return {.window = chunks_with_right(w)};
  }

  /// `sizes` are rounded to encoder rows.
  parakeet_window_stream(const Model& m, const parakeet_windows& sizes, context& c)
      : parakeet_window_stream(m, window_rows(sizes, m.frame_seconds()), {}, c) {}
  /// Windows of so many rows; `how` they are encoded may be encoding_of(). `search` has a beam and what it favours,
  /// which must outlive the stream.
  parakeet_window_stream(const Model& m, const window_rows& rows, const parakeet_encoding& how, context& c,
                         const typename Model::options& search = {})
      : model_(&m), cut_(rows), how_(how), search_(m.begin(search, c, beam_patience)) {}

  /// More 16 kHz mono samples in [-1, 1], any number of them. sink(parakeet_window_event) is called for what they
  /// make.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    held_.insert(held_.end(), pcm.begin(), pcm.end());
    // A window that nothing follows is the last, and what is behind its middle counts, too.
    while (total() > (next_ + cut_.step()) * model_->samples_per_row()) decode(c, sink);
  }
  /// The end: decodes what is left.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    if (total() > next_ * model_->samples_per_row()) decode(c, sink);
    model_->finish(search_);
    (void)add();
    emit(true, sink);
  }
  /// The first `count` tokens are of no interest any more, so that memory does not grow with the stream. Returns how
  /// many of them are gone: they come in no event again.
  std::size_t forget(std::size_t count) {
    const std::size_t gone = found_.forget(count);
    const auto erase = [&](auto& all) { all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(gone)); };
    erase(search_.tokens);
    if constexpr (requires { search_.log_probabilities; }) erase(search_.log_probabilities);
    return gone;
  }
  /// All that were not forgotten.
  std::span<const tokenizers::placed_token> tokens() const noexcept { return found_.tokens; }
  std::span<const float> log_probabilities() const noexcept { return found_.log_probabilities; }  ///< of tokens()

 private:
  extent total() const noexcept { return from_ + static_cast<extent>(held_.size()); }
  template <class Sink>
  void decode(context& c, Sink& sink) {
    const extent each = model_->samples_per_row();
    const row_window w = cut_.at(next_, total(), each);
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(w.from - from_));
    from_ = w.from;
    encode_window(
        *model_, held_, w, c,
        [&](const auto& rows, extent first) {
          {
            auto scope = c.enter("stream");
            c.trace("encoder_out", rows);
          }
          if constexpr (requires { model_->max_symbols; })
            model_->advance(search_, rows, first, model_->max_symbols, c);
          else
            model_->advance(search_, rows, first, c);
        },
        how_);
    next_ = std::min(w.last, (w.to + each - 1) / each);
    if (add()) emit(false, sink);
  }
  bool add() {
    return found_.add(*model_, std::span(std::as_const(search_.tokens)),
                      [&](std::size_t i) { return model_->log_probability(search_, i); });
  }
  template <class Sink>
  void emit(bool final, Sink& sink) {
    sink(parakeet_window_event{.final = final,
                               .tokens = found_.tokens,
                               .log_probabilities = found_.log_probabilities,
                               .decoded_seconds = static_cast<double>(next_) * model_->frame_seconds()});
  }

  const Model* model_;
  window_rows cut_;
  parakeet_encoding how_;
  typename Model::search search_;
  std::vector<float> held_;  // samples from from_ on
  parakeet_placed found_;
  extent from_ = 0, next_ = 0;  // the first sample held; the next row to decode
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno

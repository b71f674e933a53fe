// steno/streaming/parakeet_window_stream.hpp - any Parakeet listening: each piece is encoded anew between what came
// before and what comes behind it.
//
//   for every `middle` seconds: encode [left | middle | right]; the middle's rows go on with the search
//
// For models that were not trained for caches. Latency is middle + right, the cost of a second (left + middle + right)
// / middle times the encoder's. Labels of a greedy search never change. The rows are those of parakeet_windows when
// such a recording is not encoded whole. NeMo `FrameBatchASR`, `BatchedFrameASRRNNT` (streaming_utils.py). Tested in
// tests/streaming/parakeet_window_stream_test.cpp.
#pragma once
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Emitted after each piece that has new tokens, and at the end. Views are valid until the stream goes on.
struct parakeet_window_event {
  bool final = false;                                     ///< the stream ended
  std::span<const tokenizers::placed_token> tokens = {};  ///< all that were not forgotten
  std::span<const float> log_probabilities = {};          ///< of the tokens
  double decoded_seconds = 0;                             ///< of audio whose rows were decoded
};

/// One stream; the model outlives it. Memory: the samples of a window, and the tokens that were not forgotten.
template <class Model>
class parakeet_window_stream {
 public:
  /// Seconds; `whole` is not read.
  static constexpr parakeet_windows default_sizes{.whole = 0, .left = 10, .middle = 2, .right = 2};

  /// `sizes` are rounded to encoder rows.
  parakeet_window_stream(const Model& m, const parakeet_windows& sizes, context& c)
      : model_(&m), cut_(sizes, m.frame_seconds()), search_(m.begin(c)) {}

  /// More 16 kHz mono samples in [-1, 1], any number of them. sink(parakeet_window_event) is called for what they
  /// make.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    held_.insert(held_.end(), pcm.begin(), pcm.end());
    while (from_ * model_->samples_per_row() + static_cast<extent>(held_.size()) >=
           (next_ + cut_.middle + cut_.right) * model_->samples_per_row())
      decode(cut_.at(next_, next_ + cut_.middle + cut_.right), c, sink);
  }
  /// The end: decodes what is left.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    const extent total = from_ * model_->samples_per_row() + static_cast<extent>(held_.size());
    const extent n = model_->frames(total);
    while (next_ < n) decode(cut_.at(next_, n), c, sink);
    emit(true, sink);
  }
  /// The first `count` tokens are of no interest any more, so that memory does not grow with the stream. Returns how
  /// many of them are gone: they come in no event again.
  std::size_t forget(std::size_t count) {
    constexpr std::size_t batch = 256;  // at once
    count -= std::min(count, context_tokens);
    if (count < batch) return 0;
    const auto erase = [&](auto& all) { all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)); };
    erase(placed_);
    erase(log_probabilities_);
    erase(search_.tokens);
    if constexpr (requires { search_.log_probabilities; }) erase(search_.log_probabilities);
    return count;
  }
  std::span<const tokenizers::placed_token> tokens() const noexcept {
    return placed_;
  }  ///< all that were not forgotten
  std::span<const float> log_probabilities() const noexcept { return log_probabilities_; }  ///< of tokens()

 private:
  // Where a token is put may depend on so many before it.
  static constexpr std::size_t context_tokens = 8;

  template <class Sink>
  void decode(const row_window& w, context& c, Sink& sink) {
    const auto unused = static_cast<std::ptrdiff_t>((w.from - from_) * model_->samples_per_row());
    held_.erase(held_.begin(), held_.begin() + unused);
    from_ = w.from;
    encode_window(*model_, held_, w, c, [&](const auto& rows, extent first) {
      if constexpr (requires { model_->max_symbols; })
        model_->advance(search_, rows, first, model_->max_symbols, c);
      else
        model_->advance(search_, rows, first, c);
    });
    next_ = w.last;
    const std::size_t known = placed_.size(), all = search_.tokens.size();
    if (all == known) return;
    const std::size_t from = known - std::min(known, context_tokens);
    const std::vector<tokenizers::placed_token> tail = model_->place(std::span(search_.tokens).subspan(from));
    placed_.insert(placed_.end(), tail.begin() + static_cast<std::ptrdiff_t>(known - from), tail.end());
    for (std::size_t i = known; i < all; ++i) log_probabilities_.push_back(model_->log_probability(search_, i));
    emit(false, sink);
  }
  template <class Sink>
  void emit(bool final, Sink& sink) {
    sink(parakeet_window_event{.final = final,
                               .tokens = placed_,
                               .log_probabilities = log_probabilities_,
                               .decoded_seconds = static_cast<double>(next_) * model_->frame_seconds()});
  }

  const Model* model_;
  window_rows cut_;
  typename Model::search search_;
  std::vector<float> held_;  // samples from row from_ on
  std::vector<tokenizers::placed_token> placed_;
  std::vector<float> log_probabilities_;
  extent from_ = 0, next_ = 0;  // rows: of the first sample held; the next one to decode
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno

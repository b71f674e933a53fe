// steno/streaming/paraformer_stream.hpp - an online Paraformer listening: samples in any portions, results out.
//
// The original (`ParaformerStreaming.inference`) holds samples back until a piece of 960 * size is complete and decodes
// what is left, perhaps nothing, as the last piece; so do we, and the portions of push() make no difference. Without
// hotwords tokens never change once they are emitted; with hotwords the search settles them (search/position_beam.hpp),
// and what is not settled is the best text so far. An utterance ends where several pieces bring no token: that is our
// own rule, it divides the text alone, and the model goes on as if nothing had happened. Tested in
// tests/streaming/paraformer_stream_test.cpp and tests/parity/paraformer_online_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/paraformer_online.hpp>
#include <steno/streaming/stream_event.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace funasr {

/// How a stream is cut into pieces and utterances.
struct paraformer_stream_options {
  nn::chunk_sizes sizes = {};  ///< of a piece, and what is seen around it
  /// Pieces without a token after which an utterance ends; 0: never, and the ids of a whole stream are kept.
  extent endpoint_pieces = 2;
  bool continuous = true;  ///< after an endpoint the next utterance begins; otherwise the stream is over
  /// Utterances end with the piece that reaches this many encoder frames; 0: never.
  extent max_utterance_frames = 0;
  /// Hotwords to favour, and how many tokens of a position are looked at for their sake; without hotwords the best
  /// token of each position is taken. No length penalty and no language model.
  search::search_options search = {};
};

/// What a sink gets. Spans live as long as the call.
struct paraformer_event : streaming::stream_event {
  std::span<const float> log_probabilities = {};  ///< of the ids
};

/// One stream of a paraformer_online. A stream and the context that is handed to it are one thread's at a time.
template <class Model>
class paraformer_stream {
 public:
  /// The model and what is favoured must outlive the stream. Throws steno::error for sizes that make no sense, a length
  /// penalty and a language model.
  explicit paraformer_stream(const Model& model, const paraformer_stream_options& options)
      : model_(&model), options_(options), state_(model.start(options.sizes)) {
    waiting_.reserve(piece());
    ids_.reserve(1024);  // an utterance of more tokens is long: only then memory grows
    log_probabilities_.reserve(1024);
    options_.search.refuse_length_penalty();
    options_.search.refuse_words();
    if (const search::hotword_automaton* const phrases = options_.search.favoured())
      search_.emplace(Model::stream_search(options_.search.beam, phrases), model.decoder.output_size());
  }
  /// With the sizes that the model's file recommends.
  explicit paraformer_stream(const Model& model) : paraformer_stream(model, {.sizes = model.default_sizes}) {}

  const Model& model() const noexcept { return *model_; }                         ///< it decodes with
  const paraformer_stream_options& options() const noexcept { return options_; }  ///< those it was made with
  bool over() const noexcept { return over_; }  ///< after finish(), or an endpoint that does not continue
  /// Milliseconds of audio that were decoded.
  extent decoded_ms() const noexcept { return decoded_ * 1000 / Model::sample_rate; }

  /// Back to the start of a stream.
  void reset() {
    state_ = model_->start(options_.sizes);
    waiting_.clear();
    begin_utterance();
    decoded_ = from_ = 0;
    over_ = false;
  }

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(const paraformer_event&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    while (!pcm.empty() && !over_) {
      if (waiting_.empty() && pcm.size() >= piece()) {
        decode(pcm.first(piece()), false, c, sink);
        pcm = pcm.subspan(piece());
        continue;
      }
      const std::size_t n = std::min(piece() - waiting_.size(), pcm.size());
      waiting_.insert(waiting_.end(), pcm.begin(), pcm.begin() + static_cast<std::ptrdiff_t>(n));
      pcm = pcm.subspan(n);
      if (waiting_.size() < piece()) continue;
      decode(waiting_, false, c, sink);
      waiting_.clear();
    }
  }

  /// Ends the stream: decodes what is left and gives the last final result.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    if (over_) return;
    if (decoded_ > 0 || !waiting_.empty()) decode(waiting_, true, c, sink);
    waiting_.clear();
    sink(std::as_const(event(streaming::stream_event_kind::final)));
    over_ = true;
  }

 private:
  std::size_t piece() const noexcept { return static_cast<std::size_t>(Model::piece_samples(options_.sizes)); }

  void begin_utterance() {
    ids_.clear();
    log_probabilities_.clear();
    score_ = 0;
    silent_ = 0;
    from_ = decoded_;
    settled_ = 0;
    if (search_) search_->restart();
  }

  template <class Sink>
  void decode(std::span<const float> pcm, bool last, context& c, Sink&& sink) {
    const bool spoken = search_ ? decode_best(pcm, last, c) : decode_greedily(pcm, last, c);
    decoded_ += static_cast<extent>(pcm.size());
    if (last) return;
    if (ids_.empty()) {
      from_ = decoded_;
      return;
    }
    silent_ = spoken ? 0 : silent_ + 1;
    if (silent_ == 0) sink(std::as_const(event(streaming::stream_event_kind::partial)));
    const bool paused = options_.endpoint_pieces > 0 && silent_ >= options_.endpoint_pieces;
    const bool full =
        options_.max_utterance_frames > 0 && decoded_ - from_ >= options_.max_utterance_frames * Model::frame_samples;
    if (!paused && !full) return;
    paraformer_event& e = event(streaming::stream_event_kind::final);
    e.endpoint = true;
    sink(std::as_const(e));
    begin_utterance();
    over_ = !options_.continuous;
  }

  // Whether the piece brings a token.
  bool decode_greedily(std::span<const float> pcm, bool last, context& c) {
    const std::size_t before = ids_.size();
    model_->advance(state_, pcm, last, c, [&](const typename Model::token& t) {
      ids_.push_back(t.id);
      log_probabilities_.push_back(t.log_probability);
      score_ += static_cast<double>(t.log_probability);
    });
    settled_ = ids_.size();
    return ids_.size() > before;
  }
  // The same with the best text of the search in place of the one so far, but for what is settled.
  bool decode_best(std::span<const float> pcm, bool last, context& c) {
    std::size_t position = 0;
    const std::size_t known = search_->positions();
    model_->advance_scores(state_, pcm, last, c, [&](const view<const float>& scores) { search_->advance(scores); });
    bool spoken = false;
    const auto keep = [&](const search::position_token& t) {
      const bool fresh = position++ >= known;
      if (Model::silent(t.id)) return;
      ids_.push_back(t.id);
      log_probabilities_.push_back(t.log_probability);
      spoken = spoken || fresh;
    };
    ids_.resize(settled_);
    log_probabilities_.resize(settled_);
    search_->take_settled(keep);
    settled_ = ids_.size();
    score_ = search_->best(keep);
    return spoken;
  }

  paraformer_event& event(streaming::stream_event_kind kind) {
    event_ = {};
    event_.kind = kind;
    event_.ids = ids_;
    event_.log_probabilities = log_probabilities_;
    event_.stable = kind == streaming::stream_event_kind::final
                        ? static_cast<extent>(ids_.size())
                        : model_->tokenizer.settled(std::span(ids_).first(settled_));
    event_.score = score_;
    event_.offset_ms = from_ * 1000 / Model::sample_rate;
    event_.decoded_ms = decoded_ms();
    return event_;
  }

  const Model* model_;
  paraformer_stream_options options_;
  typename Model::state state_;
  std::vector<float> waiting_;  // samples of a piece that is not complete
  std::vector<int> ids_;        // of the utterance
  std::vector<float> log_probabilities_;
  std::optional<search::position_search> search_;  // with hotwords
  std::size_t settled_ = 0;                        // of ids_; the search may still change the others
  paraformer_event event_;
  double score_ = 0;
  extent decoded_ = 0, from_ = 0, silent_ = 0;
  bool over_ = false;
};

}  // namespace funasr
}  // namespace STENO_ABI
}  // namespace steno

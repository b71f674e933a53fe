// steno/pipelines/canary.hpp - Canary in the pipelines.
//
// Tested in tests/pipelines/canary_test.cpp and recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/canary.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/sample_store.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// A recording of any length, hour by hour as the original: each is cut into windows, whose length depends on its own,
/// and a segment is what a window adds to the text; together they are the original's text. Model and hotwords must
/// outlive it.
template <class Model>
class canary_recording {
 public:
  /// Throws steno::error for options that the model does not know.
  STENO_COLD canary_recording(const Model& m, const transcribe_options& o, const search::guides& guides)
      : model_(&m), options_(family<Model>::options(m, o, guides, 0)) {
    std::tie(head_, prompt_) = m.begin(options_);
  }

  /// All of the recording, before push() brings it again.
  void preview(std::span<const float> pcm, context&) {
    previewed_ = true;
    total_ += static_cast<extent>(pcm.size());
  }
  /// More samples.
  void push(std::span<const float> pcm, context& c, core::sink_ref<segment> sink) {
    kept_.push(pcm);
    // What follows has a say in how an hour is cut, unless it is over.
    while (previewed_ || kept_.end() > hour_ + hour)
      if (!advance(previewed_ ? total_ : hour_ + hour, c, sink)) return;
  }
  /// The rest; `head` gets what concerns the whole recording. Throws steno::error when preview() saw another one.
  void finish(context& c, core::sink_ref<segment> sink, result& head) {
    if (previewed_ && kept_.end() != total_)
      fail({.what = "the recording has changed since it was previewed",
            .expected = std::to_string(total_) + " samples",
            .found = std::to_string(kept_.end())});
    while (advance(kept_.end(), c, sink)) {
    }
    head.language = head_.language;
    if (emitted_ != 1) return;
    head.score = only_.score;
    head.alternatives = std::move(only_.alternatives);
    head.stop_reason = std::move(only_.stop_reason);
    head.extra = std::move(only_.extra);
  }
  /// Seconds that are done.
  double done() const { return done_; }

 private:
  static constexpr extent hour = 3600 * extent{Model::sample_rate};
  // Where the tokens of a window begin, and when.
  struct part {
    std::size_t first = 0;
    double seconds = 0;
  };

  static double seconds_of(extent samples) { return static_cast<double>(samples) / Model::sample_rate; }

  // The next window of a recording of `total` samples, as far as they are there; false: it has to wait, or it was the
  // last one.
  bool advance(extent total, context& c, core::sink_ref<segment> sink) {
    const extent count = std::min(hour, total - hour_);
    if (count <= 0) return false;
    const nemo::canary_windows cut = nemo::canary_windows::of(std::max(count, nemo::canary_windows::second));
    const extent before = nemo::canary_zeros_before(count), first = hour_ + cut.start(next_);
    const extent last = first + std::min(cut.length(next_), count - cut.start(next_));
    if (last > kept_.end()) return false;
    kept_.read(first, last, pcm_);
    if (before > 0) {
      pcm_.insert(pcm_.begin(), static_cast<std::size_t>(before), 0.0f);
      pcm_.resize(static_cast<std::size_t>(nemo::canary_windows::second));
    }
    model_->encode_window(pcm_, cut.window, window_, c);
    const search::nemo_beam_result found = model_->decode_window(prompt_, window_, options_, c);
    const search::nemo_hypothesis& best = found.beams[found.best];
    const bool ends = next_ + 1 == cut.count();
    segment s = head_;
    s.stop_reason = model_->stop_name(best);
    if (cut.count() == 1) model_->write_beam(found, options_, s);
    const double half = seconds_of(nemo::canary_windows::overlap) / 2;
    const double start = seconds_of(hour_) + (next_ == 0 ? 0 : seconds_of(cut.start(next_)) + half);
    const double end = seconds_of(hour_) + (ends ? seconds_of(count) : seconds_of(cut.start(next_ + 1)) + half);
    if (options_.timestamps) {
      s.start = start;
      s.end = end;
      s.token_ids = best.ids;
      model_->write_words(best, pcm_, cut, next_, {seconds_of(hour_ - before), seconds_of(hour_ + count)}, s, c);
      if (cut.count() > 1 && !s.words.empty()) {
        s.start = s.words.front().start;
        s.end = s.words.back().end;
      }
      if (emitted_ > 0 && !s.text.empty()) s.text.insert(0, " ");
      if (!s.token_ids.empty()) emit(std::move(s), sink);
    } else {
      take(best.ids, start);
      emit_text(s, ends ? end : -1, sink);
    }
    ++next_;
    kept_.drop_before(hour_ + (ends ? count : cut.start(next_)));
    done_ = end;
    if (!ends) return true;
    hour_ += count;
    next_ = 0;
    return true;
  }
  // The tokens of the next window. Where they make the text before shorter, so do they what was not emitted of it.
  void take(const std::vector<int>& ids, double start) {
    const std::size_t first = search::merge_overlap(ids_, ids);
    for (part& p : parts_) p.first = std::min(p.first, first);
    parts_.push_back({first, start});
  }
  // What later windows cannot change any more, or with an end all of it: each part up to the first word of the next.
  void emit_text(const segment& like, double end, core::sink_ref<segment> sink) {
    const std::size_t open = search::overlap_rule{}.left;
    while (parts_.size() > 1) {
      std::size_t to = parts_[1].first;
      if (end < 0 && to + open > ids_.size()) return;
      while (to > emitted_ids_ && !begins_word(to)) --to;
      if (to > emitted_ids_) emit_tokens(like, to, parts_[1].seconds, sink);
      parts_.pop_front();
    }
    if (end < 0) return;
    if (ids_.size() > emitted_ids_) emit_tokens(like, ids_.size(), end, sink);
    ids_.clear();
    parts_.clear();
    emitted_ids_ = 0;
    from_ = end;
  }
  bool begins_word(std::size_t at) const {
    return at == ids_.size() || model_->tokenizer.piece(ids_[at]).starts_with(tokenizers::sentencepiece::space);
  }
  void emit_tokens(const segment& like, std::size_t to, double end, core::sink_ref<segment> sink) {
    segment s = like;
    s.start = from_;
    s.end = from_ = end;
    s.token_ids.assign(ids_.begin() + static_cast<std::ptrdiff_t>(emitted_ids_),
                       ids_.begin() + static_cast<std::ptrdiff_t>(to));
    emitted_ids_ = to;
    s.text = model_->tokenizer.decode(s.token_ids);
    if (emitted_ > 0 && !s.text.empty() && s.text.front() != ' ') s.text.insert(0, " ");  // its words are parted
    emit(std::move(s), sink);
  }
  void emit(segment s, core::sink_ref<segment> sink) {
    if (++emitted_ == 1)
      only_ = {.score = s.score, .alternatives = s.alternatives, .stop_reason = s.stop_reason, .extra = s.extra};
    sink(std::move(s));
  }

  const Model* model_;
  nemo::canary_options options_;
  segment head_;
  std::vector<int> prompt_;
  bool previewed_ = false;
  extent total_ = 0;
  sample_store kept_;
  std::vector<float> pcm_;
  nemo::canary_window window_;
  extent hour_ = 0, next_ = 0;  // the first sample of the hour, and its next window
  std::vector<int> ids_;        // of the hour's text
  std::deque<part> parts_;      // of it that were not emitted
  std::size_t emitted_ids_ = 0, emitted_ = 0;
  segment only_;  // what the result takes from a segment, as long as there is one
  double from_ = 0, done_ = 0;
};

template <nemo::canary_sizes S>
struct family<nemo::canary<S>> : family_defaults<nemo::canary<S>> {
  using model = nemo::canary<S>;
  using whole_recording = canary_recording<model>;

  static bool supports(const model& m, std::string_view option) {
    const bool canary2 = m.tokens.format == nemo::canary_format::canary2;
    if (option == "target_language" || option == "translate" || option == "punctuation" || option == "beam" ||
        option == "length_penalty")
      return true;
    if (option == "itn" || option == "initial_prompt") return canary2;
    if (option == "word_timestamps") return m.finds_times();
    return family_defaults<model>::supports(m, option);
  }
  static nemo::canary_options options(const model&, const transcribe_options& o, const search::guides&, std::size_t) {
    nemo::canary_options own;
    own.language = o.language;
    own.target_language = o.target_language;
    if (o.decoding.translate.value_or(false)) {
      if (!o.target_language.empty() && o.target_language != "en")
        fail({.what = "option translate",
              .expected = "no other target language than en, into which it translates",
              .found = o.target_language});
      own.target_language = "en";
    }
    if (const auto& penalty = o.decoding.length_penalty; penalty && !(*penalty >= 0 && *penalty <= 64))
      fail({.what = "option length_penalty", .expected = "0 to 64", .found = weights::number_text(*penalty)});
    own.punctuation = o.punctuation.value_or(true);
    own.itn = o.itn.value_or(false);
    own.timestamps = o.decoding.word_timestamps.value_or(false);
    own.context = o.decoding.initial_prompt.value_or("");
    own.beam = o.beam;
    own.length_penalty = o.decoding.length_penalty;
    return own;
  }
};

namespace detail {
using canary_family = family_of<nemo::canary_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<nemo::canary_any>;
STENO_MODEL_FUNCTIONS(template, nemo::canary<nemo::canary_sizes{}>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<nemo::canary_any>;
STENO_MODEL_FUNCTIONS(extern template, nemo::canary<nemo::canary_sizes{}>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

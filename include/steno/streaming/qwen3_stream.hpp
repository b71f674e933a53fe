// steno/streaming/qwen3_stream.hpp - Qwen3-ASR while somebody speaks: every two seconds all of it is read again, and
// the text goes on from what was written before.
//
// The prompt of a step holds all audio so far and, as the beginning of the answer, the text so far without its last
// `unfixed_tokens` tokens (nothing at all in the first `unfixed_chunks` steps). Follows
// `Qwen3ASRModel.streaming_transcribe` and `finish_streaming_transcribe` (qwen_asr/inference/qwen3_asr.py), oddities
// included; what is read again is not computed again: rows of whole blocks of the audio tower (8 s) and the keys and
// values of the prompt before them are kept while the loudest frame stays the same. With `max_utterance_seconds` an
// utterance is settled at a quiet place after so many seconds and the next begins, so a step costs the same for ever.
// Tested in tests/parity/qwen3_stream_test.cpp and tests/streaming/qwen3_stream_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/qwen3_asr.hpp>
#include <steno/streaming/stream_event.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace qwen3 {

/// How a stream is decoded.
struct qwen3_stream_options {
  std::string language = {};         ///< forced: a name or code
  std::string prompt = {};           ///< the system prompt: names, subjects, whatever helps
  int unfixed_chunks = 2;            ///< steps of an utterance that begin without a text
  int unfixed_tokens = 5;            ///< tokens at the end of a text that the next step may write anew
  double chunk = 2;                  ///< seconds between steps
  int max_new_tokens = 4096;         ///< of a step
  double max_utterance_seconds = 0;  ///< seconds of an utterance; 0: one that never ends, as the original's
  double search_expand = 5;          ///< seconds before that in which a quiet place is looked for
  /// What was the beginning of an answer once is never taken back; where an utterance may be cut next
  /// (`max_utterance_seconds`), only what was it before that place. The original takes it back when a step writes fewer
  /// than `unfixed_tokens` tokens, and repairs repetitions in all of the text; here they are kept out of what is new.
  bool commit = false;
  /// With `commit`: a pattern of words comes no more than so many times in a row; 0: as it comes.
  int max_repeats = 3;
  std::optional<dtype> cache = std::nullopt;            ///< of keys and values; none: what suits the weights
  const search::hotword_automaton* hotwords = nullptr;  ///< phrases to favour, beside the prompt; null: none
};

/// What a step wrote. Views live as long as the call.
struct qwen3_stream_event {
  streaming::stream_event_kind kind = streaming::stream_event_kind::partial;  ///< final: the utterance is settled
  double start = 0;                                                           ///< seconds: where the utterance began
  double decoded_seconds = 0;                                                 ///< of the stream, so far
  std::string_view language;                          ///< name of the language; empty: none is known
  std::string_view text;                              ///< of the utterance
  std::string_view stable;                            ///< the beginning of the text that stays; needs `commit`
  std::string_view prefix;                            ///< what the answer began with
  std::span<const int> ids;                           ///< what was written behind it
  std::string_view raw;                               ///< both, as text
  std::span<const int> answer;                        ///< both, as tokens: those of the whole utterance
  const qwen3_prompt* prompt = nullptr;               ///< of this step
  extent audio_rows = 0;                              ///< rows of the prompt that are audio
  extent reused_rows = 0;                             ///< rows of the prompt that were not read again
  extent encoded_rows = 0;                            ///< rows that the audio tower made in this step
  nn::qwen3_stop stop = nn::qwen3_stop::end_of_text;  ///< why the last step stopped writing
};

/// One stream; the model and the hotwords outlive it.
template <class Model>
class qwen3_stream {
 public:
  /// Throws steno::error for a language that the model does not know, and for chunks of more than 1200 s.
  qwen3_stream(const Model& m, const qwen3_stream_options& o)
      : model_(&m),
        options_(o),
        language_(m.language_name(o.language)),
        state_(m.state_for(o.cache)),
        chunk_(std::max<extent>(1, static_cast<extent>(std::nearbyint(o.chunk * Model::sample_rate)))) {
    if (!(o.chunk > 0 && o.chunk <= 1200)) fail({.what = "seconds of a chunk", .expected = "0 to 1200"});
  }

  /// More mono samples at 16 kHz in [-1, 1], any number of them; sink(qwen3_stream_event) is called for what they
  /// make.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    audio_.insert(audio_.end(), pcm.begin(), pcm.end());
    while (static_cast<extent>(audio_.size()) - decoded_ >= chunk_) {
      if (too_long(decoded_ + chunk_)) settle(c, sink);
      decoded_ += chunk_;
      step(decoded_, false, c, sink, streaming::stream_event_kind::partial);
    }
  }
  /// The end: decodes what is left.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    if (too_long(static_cast<extent>(audio_.size()))) settle(c, sink);
    const auto all = static_cast<extent>(audio_.size());
    if (all > decoded_) {
      decoded_ = all;
      step(decoded_, true, c, sink, streaming::stream_event_kind::final);
    } else if (steps_ > 0) {
      emit(sink, streaming::stream_event_kind::final, {}, decoded_);  // nothing new
    }
    begin(all);
  }

 private:
  using value_rows = std::vector<float>;

  // So many samples would be more than an utterance may have, and those before can end one.
  bool too_long(extent count) const noexcept {
    const auto max_utterance_seconds = static_cast<extent>(options_.max_utterance_seconds * Model::sample_rate);
    return max_utterance_seconds > 0 && count > max_utterance_seconds && decoded_ > 0;
  }
  // A quiet place in the last seconds ends the utterance; what follows it is decoded again in the next one.
  template <class Sink>
  void settle(context& c, Sink&& sink) {
    const extent back = std::min(decoded_ / 2, static_cast<extent>(options_.search_expand * Model::sample_rate));
    const std::span<const float> last = std::span<const float>(audio_).subspan(
        static_cast<std::size_t>(decoded_ - back), static_cast<std::size_t>(back));
    // One cut at the quietest place around their middle; quiet_splits() would go on behind it, sample by sample where
    // all is silent.
    const extent cut =
        back > 1 ? decoded_ - back + segmentation::quiet_end(last, 0, back / 2, back / 2, Model::sample_rate / 10)
                 : decoded_;
    step(cut, false, c, sink, streaming::stream_event_kind::final);
    begin(cut);
  }
  // The first sample of an utterance at which settle() may cut it.
  extent earliest_cut() const noexcept {
    const auto max_utterance_seconds = static_cast<extent>(options_.max_utterance_seconds * Model::sample_rate);
    const extent last = std::max<extent>(max_utterance_seconds / chunk_, 1) * chunk_;
    return last - std::min(last / 2, static_cast<extent>(options_.search_expand * Model::sample_rate));
  }
  // A new utterance from sample `from` of this one.
  void begin(extent from) {
    audio_.erase(audio_.begin(), audio_.begin() + from);
    offset_ += from;
    decoded_ = 0;
    steps_ = 0;
    raw_.clear();
    answer_.clear();
    committed_.clear();
    settled_.clear();
    last_ = 0;
    stop_ = nn::qwen3_stop::end_of_text;
    rows_.clear();
    read_ = 0;
  }

  // The text so far without its last tokens.
  std::string prefix_of(bool at_end) const {
    if (steps_ < options_.unfixed_chunks) return {};
    const std::vector<int> ids = model_->tokenizer.encode(raw_);
    const auto first = [&](std::ptrdiff_t n) {
      return model_->tokenizer.decode({ids.begin(), ids.begin() + std::min(n, static_cast<std::ptrdiff_t>(ids.size()))},
                                      false);
    };
    const auto size = static_cast<std::ptrdiff_t>(ids.size());
    std::string prefix;
    if (at_end) {
      prefix = first(std::max<std::ptrdiff_t>(1, size - options_.unfixed_tokens));
    } else {
      for (std::ptrdiff_t n = std::max<std::ptrdiff_t>(0, size - options_.unfixed_tokens); n > 0; --n) {
        prefix = first(n);
        if (prefix.find("\xef\xbf\xbd") == std::string::npos) break;
        prefix.clear();
      }
    }
    if (options_.commit && !prefix.starts_with(committed_)) return committed_;
    return prefix;
  }

  template <class Sink>
  void step(extent count, bool at_end, context& c, Sink&& sink, streaming::stream_event_kind kind) {
    constexpr extent width = Model::width;
    const auto& m = *model_;
    // An utterance that is cut goes on from the text before the cut, or its last words would be written twice.
    const bool cut = kind == streaming::stream_event_kind::final && !at_end;
    const std::string prefix = cut && options_.commit ? settled_ : prefix_of(at_end);
    const qwen3_prompt p = m.prompt(options_.prompt, language_, prefix);
    const std::span<const float> pcm = std::span<const float>(audio_).first(static_cast<std::size_t>(count));
    const extent audio = m.audio_rows(count), before = static_cast<extent>(p.before.size()),
                 after = static_cast<extent>(p.after.size());
    const extent total = before + audio + after, d = m.text.width();
    const extent block = m.audio_tower.block_rows(), block_frames = m.audio_tower.block_frames();

    // Rows of blocks that end before the reflection at the end of the audio stay as they are, as long as the floor of
    // the features does.
    const float top = m.frontend.peak(pcm, count, c);
    if (top != top_ || count < known_) {
      rows_.clear();
      read_ = 0;
    }
    top_ = top;
    known_ = count;
    const extent kept = static_cast<extent>(rows_.size()) / d;
    const extent whole = std::max<extent>(0, (count - 40) / (block_frames * 160)) * block;
    const extent reused = std::min(read_, before + kept);
    core::workspace::frame scratch(c.scratch);
    auto x = scratch.template matrix<dynamic, width>(total, d);
    m.text.embed(p.before, x.topRows(before));
    if (kept > 0)
      x.middleRows(before, kept) = core::make_view<dynamic, width>(static_cast<const float*>(rows_.data()), kept, d);
    if (audio > kept) m.encode(pcm, kept / block * block_frames, top, x.middleRows(before + kept, audio - kept), c);
    m.text.embed(p.after, x.bottomRows(after));
    if (whole > kept) rows_.insert(rows_.end(), x.data() + (before + kept) * d, x.data() + (before + whole) * d);
    state_.rewind(reused);
    nn::qwen3_read(m.text, view<float, dynamic, width>(x.middleRows(reused, total - reused)), state_, c);
    const nn::qwen3_text t = nn::qwen3_write(m.text, view<float, dynamic, width>(x.bottomRows(1)), state_,
                                             {.ends = m.ends,
                                              .max_tokens = options_.max_new_tokens,
                                              .hotwords = options_.hotwords,
                                              .text_tag = m.text_tag(language_),
                                              .earlier = answer_},
                                             c, m.tokenizer.encode(prefix));
    read_ = before + whole;

    raw_ = prefix + m.tokenizer.decode(t.ids, true);
    answer_ = m.tokenizer.encode(prefix);
    answer_.insert(answer_.end(), t.ids.begin(), t.ids.end());
    if (options_.commit && options_.max_repeats > 0) {
      const std::size_t written = raw_.size();
      raw_ = text::limit_repeats(std::move(raw_), static_cast<std::size_t>(options_.max_repeats), prefix.size());
      if (raw_.size() != written) answer_ = m.tokenizer.encode(raw_);
    }
    output_ = text::parse_qwen3_output(raw_, language_, !options_.commit);
    ++steps_;
    if (options_.commit) committed_ = prefix;
    if (options_.max_utterance_seconds <= 0 || last_ <= earliest_cut()) settled_ = committed_;
    last_ = count;
    qwen3_stream_event e;
    e.prefix = prefix;
    e.ids = t.ids;
    e.prompt = &p;
    e.audio_rows = audio;
    e.reused_rows = reused;
    e.encoded_rows = audio - kept;
    stop_ = t.stop;
    emit(sink, kind, e, count);
  }
  template <class Sink>
  void emit(Sink&& sink, streaming::stream_event_kind kind, qwen3_stream_event e, extent count) {
    // What stands before the tag is no text yet.
    const bool begun = !language_.empty() || settled_.find("<asr_text>") != std::string::npos;
    const std::string stable = kind == streaming::stream_event_kind::final ? output_.text
                               : begun ? text::parse_qwen3_output(settled_, language_, false).text
                                       : std::string();
    e.kind = kind;
    e.start = static_cast<double>(offset_) / Model::sample_rate;
    e.decoded_seconds = static_cast<double>(offset_ + count) / Model::sample_rate;
    e.language = output_.language;
    e.text = output_.text;
    e.stable = stable;
    e.raw = raw_;
    e.answer = answer_;
    e.stop = stop_;
    sink(std::as_const(e));
  }

  const Model* model_;
  qwen3_stream_options options_;
  std::string language_, raw_;
  std::vector<int> answer_;  // what raw_ is made of
  std::string committed_;    // what the last answer began with
  std::string settled_;      // as far as it was written before the utterance can be cut: stays, wherever that will be
  nn::qwen3_decoder_state state_;
  extent chunk_, decoded_ = 0, offset_ = 0, known_ = 0, last_ = 0;  // samples; of the last step
  int steps_ = 0;
  std::vector<float> audio_;  // of the utterance
  value_rows rows_;           // of whole blocks
  nn::qwen3_stop stop_ = nn::qwen3_stop::end_of_text;
  float top_ = 0;
  extent read_ = 0;  // rows of the prompt whose keys and values in state_ still hold
  text::qwen3_output output_;
};

}  // namespace qwen3
}  // namespace STENO_ABI
}  // namespace steno

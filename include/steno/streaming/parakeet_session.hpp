// steno/streaming/parakeet_session.hpp - Parakeet behind the options and events of all families.
//
// Models that were trained to stream with caches do (parakeet_stream), any other decodes pieces between their
// neighbours (parakeet_window_stream). An utterance is what stands up to <EOU> where the model has such a label, else a
// sentence. Rows are 80 ms. Tested in tests/pipelines/any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/parakeet_sentences.hpp>
#include <steno/streaming/parakeet_placed.hpp>
#include <steno/streaming/parakeet_stream.hpp>
#include <steno/streaming/parakeet_window_stream.hpp>
#include <steno/streaming/session.hpp>
#include <steno/streaming/session_guides.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace nemo {
namespace detail {
/// Throws steno::error for sizes that no Parakeet takes.
STENO_COLD inline void check_parakeet_session(const session_options& o) {
  const auto check = [](const char* what, std::optional<int> rows, int least) {
    if (rows.value_or(least) < least || rows.value_or(least) > static_cast<int>(nemo_max_window))
      fail({.what = what,
            .expected = std::to_string(least) + " to " + std::to_string(nemo_max_window) + " rows of 80 ms",
            .found = std::to_string(*rows)});
  };
  check("chunk size", o.chunk_size, 1);
  check("look-ahead", o.look_ahead, 0);
  check("left context", o.left_context, 0);
}
/// Of models with caches. Throws steno::error for a chunk that is not that of the look-ahead. The guides must outlive
/// it.
STENO_COLD inline parakeet_stream_options cached_options(const session_options& o,
                                                         const steno::search::guides& guides) {
  check_parakeet_session(o);
  if (o.look_ahead && o.chunk_size && *o.chunk_size != *o.look_ahead + 1)
    fail({.what = "chunk size and look-ahead",
          .expected = "one of them: a chunk has a row more than its first row looks ahead",
          .found = std::to_string(*o.chunk_size) + " and " + std::to_string(*o.look_ahead)});
  return {.forget_at_end_of_turn = o.forget_turns,
          .chunk = o.chunk_size.value_or(0),
          .keep_turns = false,
          .look_ahead = o.look_ahead,
          .language = o.language,
          .search = {.beam = o.beam, .hotwords = &guides.hotwords, .words = guides.lm()}};
}
/// Of models with caches, by its name: whether an option has an effect.
template <class Model>
bool cached_honours(const Model& m, std::string_view option) noexcept {
  return streaming::is_of_searches(option) || option == "chunk_size" || option == "endpoints" ||
         (option == "look_ahead" && m.windows.size() > 1) || (option == "language" && !m.prompts.empty());
}
/// Of models with caches: the seconds of a chunk.
template <class Model>
double cached_delay(const Model& m) noexcept {
  return static_cast<double>(parakeet_stream<Model>::usual_chunk(m)) * m.frame_seconds();
}
}  // namespace detail

/// A model for which parakeet_stream has no obstacle, and which ends turns. Turns are utterances.
template <class Model>
class parakeet_turn_session {
 public:
  /// The model must outlive it. Throws steno::error for chunks without a row, and where parakeet_stream has an
  /// obstacle.
  parakeet_turn_session(const Model& m, const session_options& o, context& c)
      : model_(&m),
        endpoints_(o.endpoints.value_or(true)),
        continuous_(o.continuous),
        guides_(streaming::session_guides(m, o)),
        stream_(m, options(o, *guides_), c) {}

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(session_event&&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    if (!over_) stream_.push(pcm, c, [&](const parakeet_event& e) { decode(e, sink); });
  }
  /// The audio ends: decodes the rest and emits the last final result, unless it is over.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    if (!over_) stream_.finish(c, [&](const parakeet_event& e) { decode(e, sink); });
    over_ = true;
  }
  bool over() const noexcept { return over_; }  ///< after finish(), or an endpoint without `continuous`
  /// Whether the model has a use for an option, by its name in session_options.
  static bool honours(const Model& m, std::string_view option) noexcept {
    return option == "forget_turns" || detail::cached_honours(m, option);
  }
  /// As stream_delay() has it.
  static double delay(const Model& m) noexcept { return detail::cached_delay(m); }

 private:
  static parakeet_stream_options options(const session_options& o, const steno::search::guides& guides) {
    parakeet_stream_options own = detail::cached_options(o, guides);
    own.keep_turns = !o.endpoints.value_or(true);  // all of it is one utterance then
    return own;
  }
  template <class Sink>
  void decode(const parakeet_event& e, Sink& sink) {
    if (over_) return;
    endpoint_kind end = endpoint_kind::none;
    if (e.kind == parakeet_event_kind::end_of_turn) end = endpoint_kind::end_of_turn;
    if (e.kind == parakeet_event_kind::end_of_backchannel) end = endpoint_kind::end_of_backchannel;
    if (end != endpoint_kind::none && !endpoints_) return;
    sink(describe(e, end));
    if (end == endpoint_kind::none) return;
    began_ = e.decoded_seconds;
    over_ = !continuous_;
  }
  STENO_COLD session_event describe(const parakeet_event& e, endpoint_kind end) const {
    session_event out;
    out.endpoint = end;
    if (end != endpoint_kind::none || e.kind == parakeet_event_kind::final)
      out.kind = streaming::stream_event_kind::final;
    std::vector<transducer_token> tokens;
    for (const transducer_token& t : e.tokens)
      if (!model_->ends_turn(t.id))
        tokens.push_back(t);
      else if (end != endpoint_kind::none)
        out.eot_confidence = std::exp(static_cast<double>(t.score));
    segment& s = out.utterance;
    model_->write_result(tokens, s);
    Model::part_words(s.words);
    // With its first word, which may have begun before the chunk that held the end of the turn before was over.
    s.start = tokens.empty() ? began_ : static_cast<double>(tokens.front().frame) * model_->frame_seconds();
    s.end = e.decoded_seconds;
    double score = 0;
    for (const transducer_token& t : tokens) score += static_cast<double>(t.score);
    out.score = score;
    out.stable = s.text;  // labels never change
    if (!out.final()) s.words.clear();
    out.nbest.push_back({s.text, out.score, {}});
    return out;
  }

  const Model* model_;
  bool endpoints_, continuous_, over_ = false;
  std::unique_ptr<const steno::search::guides> guides_;  // stay where they are when the session moves
  parakeet_stream<Model> stream_;
  double began_ = 0;
};

/// A stream with caches whose events are those of parakeet_window_stream.
template <class Model>
class parakeet_cached_stream {
 public:
  /// As parakeet_stream has them.
  parakeet_cached_stream(const Model& m, parakeet_stream_options o, context& c)
      : model_(&m), stream_(m, (o.keep_turns = true, std::move(o)), c) {}
  /// sink(parakeet_window_event) is called for what the samples make.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    stream_.push(pcm, c, [&](const parakeet_event& e) { add(e, sink); });
  }
  /// The end: decodes what is left.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    stream_.finish(c, [&](const parakeet_event& e) { add(e, sink); });
  }
  /// As parakeet_window_stream has it.
  std::size_t forget(std::size_t count) {
    const std::size_t gone = found_.forget(count);
    stream_.forget(gone);
    return gone;
  }

 private:
  template <class Sink>
  void add(const parakeet_event& e, Sink& sink) {
    const bool final = e.kind == parakeet_event_kind::final;
    if (found_.add(*model_, e.tokens, [&](std::size_t i) { return e.tokens[i].log_probability; }) || final)
      sink(parakeet_window_event{.final = final,
                                 .tokens = found_.tokens,
                                 .log_probabilities = found_.log_probabilities,
                                 .decoded_seconds = e.decoded_seconds});
  }

  const Model* model_;
  parakeet_stream<Model> stream_;
  parakeet_placed found_;
};

/// Any Parakeet: a `Stream` is a parakeet_window_stream or a parakeet_cached_stream. Sentences are utterances, of up to
/// a minute.
template <class Model, class Stream>
class parakeet_sentence_session {
 public:
  /// The model must outlive it. Throws steno::error for sizes that make no sense.
  parakeet_sentence_session(const Model& m, const session_options& o, context& c)
      : model_(&m),
        endpoints_(o.endpoints.value_or(true)),
        continuous_(o.continuous),
        language_(o.language),
        guides_(streaming::session_guides(m, o)),
        stream_(stream_of(m, o, *guides_, c)),
        sentences_(endpoints_ ? parakeet_sentences(1, streaming::utterance_limit(o, minute))
                              : parakeet_sentences::of_length(streaming::utterance_limit(o, 0))) {}

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(session_event&&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    if (over_) return;
    stream_.push(pcm, c, [&](const parakeet_window_event& e) { decode(e, sink); });
    sentences_.forgot(stream_.forget(sentences_.emitted()));
  }
  /// The audio ends: decodes the rest and emits the last final result, unless it is over.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    if (!over_) stream_.finish(c, [&](const parakeet_window_event& e) { decode(e, sink); });
    over_ = true;
  }
  bool over() const noexcept { return over_; }  ///< after finish(), or an endpoint without `continuous`
  /// Whether the model has a use for an option, by its name in session_options.
  static bool honours(const Model& m, std::string_view option) noexcept {
    if (option == "max_utterance_seconds") return true;
    if constexpr (cached) {
      return detail::cached_honours(m, option);
    } else {
      if constexpr (requires { m.prompts; })
        if (option == "language") return !m.prompts.empty();
      return streaming::is_of_searches(option) || option == "chunk_size" || option == "left_chunks" ||
             option == "look_ahead" || option == "left_context" || option == "endpoints";
    }
  }
  /// As stream_delay() has it.
  static double delay(const Model& m) noexcept {
    if constexpr (cached) {
      return detail::cached_delay(m);
    } else {
      const window_rows w = Stream::rows_of(m);
      return static_cast<double>(w.middle + w.right) * m.frame_seconds();
    }
  }

 private:
  static constexpr double minute = 60;
  static constexpr bool cached = std::is_same_v<Stream, parakeet_cached_stream<Model>>;

  static Stream stream_of(const Model& m, const session_options& o, const steno::search::guides& guides, context& c) {
    if constexpr (cached) {
      return {m, detail::cached_options(o, guides), c};
    } else {
      detail::check_parakeet_session(o);
      window_rows w = Stream::rows_of(m);
      if (o.chunk_size) w.middle = w.right = *o.chunk_size;
      if (o.look_ahead) w.right = *o.look_ahead;
      if (o.left_chunks.value_or(-1) >= 0) w.left = std::min(extent{*o.left_chunks} * w.middle, nemo_max_window);
      if (o.left_context) w.left = *o.left_context;
      parakeet_encoding how = Stream::encoding_of(m, w);
      if constexpr (requires { m.prompts; }) how.prompt = m.prompts.prompt_of(o.language);
      typename Model::options search;
      search.beam = o.beam;
      search.hotwords = &guides.hotwords;
      search.words = guides.lm();
      return {m, w, how, c, search};
    }
  }
  template <class Sink>
  void decode(const parakeet_window_event& e, Sink& sink) {
    bool closed = false;
    sentences_.advance(*model_, e.tokens, e.log_probabilities, e.final, [&](segment s) {
      closed = true;
      emit(std::move(s), e, true, sink);
    });
    if (e.final && !closed) {  // the last result is always final
      segment nothing;
      nothing.start = e.decoded_seconds;
      emit(std::move(nothing), e, true, sink);
    }
    if (!e.final && sentences_.emitted() < e.tokens.size()) emit(open(e), e, false, sink);
  }
  // What follows the last sentence, as it would be emitted if nothing came behind it.
  STENO_COLD segment open(const parakeet_window_event& e) const {
    segment all;
    parakeet_sentences rest = sentences_;
    rest.advance(*model_, e.tokens, e.log_probabilities, true, [&](segment s) {
      if (all.token_ids.empty()) return void(all = std::move(s));
      all.text.append(" ").append(s.text);
      all.token_ids.insert(all.token_ids.end(), s.token_ids.begin(), s.token_ids.end());
      all.words.insert(all.words.end(), s.words.begin(), s.words.end());
    });
    return all;
  }
  // Labels never change, but those of a long sentence may become the next one's.
  STENO_COLD std::string settled(const parakeet_window_event& e) const {
    std::vector<int> ids;
    for (const tokenizers::placed_token& t : sentences_.settled(*model_, e.tokens)) ids.push_back(t.id);
    return model_->words.text(model_->tokenizer, ids);
  }
  template <class Sink>
  void emit(segment s, const parakeet_window_event& e, bool final, Sink& sink) {
    if (over_) return;
    const bool ended = final && !e.final && endpoints_;
    session_event out;
    if (final) out.kind = streaming::stream_event_kind::final;
    if (ended) out.endpoint = endpoint_kind::endpoint;
    s.end = e.decoded_seconds;
    if (s.language.empty() && language_ != "auto") s.language = language_;
    double score = 0;
    for (const word& w : s.words) score += std::log(static_cast<double>(w.confidence));
    out.score = score;
    out.stable = final ? s.text : settled(e);
    if (!final) s.words.clear();
    out.nbest.push_back({s.text, out.score, {}});
    out.utterance = std::move(s);
    sink(std::move(out));
    over_ = ended && !continuous_;
  }

  const Model* model_;
  bool endpoints_, continuous_, over_ = false;
  std::string language_;
  std::unique_ptr<const steno::search::guides> guides_;  // stay where they are when the session moves
  Stream stream_;
  parakeet_sentences sentences_;
};
/// Any Parakeet, without caches.
template <class Model>
using parakeet_window_session = parakeet_sentence_session<Model, parakeet_window_stream<Model>>;
}  // namespace nemo

namespace streaming {
/// The session of a Parakeet CTC: sentences are utterances.
template <nemo::parakeet_ctc_sizes S>
class session_body<nemo::parakeet_ctc<S>> : public nemo::parakeet_window_session<nemo::parakeet_ctc<S>> {
 public:
  using model_type = nemo::parakeet_ctc<S>;  ///< the model's type
  /// That of parakeet_window_session.
  using nemo::parakeet_window_session<model_type>::parakeet_window_session;
};

/// The session of a Parakeet transducer: with caches where the model was trained for them; turns are utterances where
/// it ends them, else sentences.
template <nemo::parakeet_transducer_sizes S>
class session_body<nemo::parakeet_transducer<S>> {
 public:
  using model_type = nemo::parakeet_transducer<S>;  ///< the model's type

  /// The model must outlive it. Throws steno::error for chunks without a row.
  session_body(const model_type& m, const session_options& o, context& c) : way_(choose(m, o, c)) {}

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(session_event&&) for every result.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    std::visit([&](auto& s) { s.push(pcm, c, sink); }, way_);
  }
  /// The audio ends: decodes the rest and emits the last final result, unless it is over.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    std::visit([&](auto& s) { s.finish(c, sink); }, way_);
  }
  /// True after finish(), or an endpoint without `continuous`.
  bool over() const noexcept {
    return std::visit([](const auto& s) { return s.over(); }, way_);
  }
  /// Whether the model has a use for an option, by its name in session_options.
  static bool honours(const model_type& m, std::string_view option) noexcept {
    if (!streams(m)) return windows::honours(m, option);
    return ends_turns(m) ? turns::honours(m, option) : cached::honours(m, option);
  }
  /// As stream_delay() has it.
  static double delay(const model_type& m) noexcept {
    if (!streams(m)) return windows::delay(m);
    return ends_turns(m) ? turns::delay(m) : cached::delay(m);
  }

 private:
  using turns = nemo::parakeet_turn_session<model_type>;
  using cached = nemo::parakeet_sentence_session<model_type, nemo::parakeet_cached_stream<model_type>>;
  using windows = nemo::parakeet_window_session<model_type>;
  using ways = std::variant<turns, cached, windows>;
  static bool streams(const model_type& m) noexcept {
    return nemo::parakeet_stream<model_type>::obstacle(m) == nullptr;
  }
  static bool ends_turns(const model_type& m) noexcept { return m.end_of_turn >= 0; }
  static ways choose(const model_type& m, const session_options& o, context& c) {
    if (!streams(m)) return ways(std::in_place_type<windows>, m, o, c);
    if (ends_turns(m)) return ways(std::in_place_type<turns>, m, o, c);
    return ways(std::in_place_type<cached>, m, o, c);
  }

  ways way_;
};
}  // namespace streaming

}  // namespace STENO_ABI
}  // namespace steno

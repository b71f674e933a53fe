// steno/streaming/session.hpp - one stream of any family: its options, and its events.
//
//   session<Model> s(model, {}, context);
//   s.push(pcm, context, sink);          // any number of samples, again and again
//   s.finish(context, sink);             // sink(session_event&&)
//
// A session puts a family's own stream (u2_stream, parakeet_stream, ...) behind one set of options and events, so that
// what listens need not know the family; who wants all that a family has to say uses its stream. Each family's is in
// streaming/FAMILY_session.hpp, and any_session (pipelines/) chooses at run time. The portions of push() make no
// difference to the events. Tested in tests/pipelines/any_session_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/hotword.hpp>
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/error.hpp>
#include <steno/models/recogniser.hpp>
#include <steno/streaming/stream_event.hpp>

#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace models {
class language_model;
}

/// What is set and has no use to the model is refused by name; `honours` of its session says what has.
struct session_options {
  /// Rows of the model between results (U2 mostly 40 ms, Paraformer 60 ms, Parakeet and Qwen3-ASR 80 ms); nothing: the
  /// model's own. U2 decodes everything at the end when it is not positive.
  std::optional<int> chunk_size = {};
  std::optional<int> left_chunks = {};   ///< chunks looked back at; nothing: the model's own, negative: all
  std::optional<int> left_context = {};  ///< rows looked back at, where chunks are not counted (Parakeet in windows)
  /// Rows looked ahead: one of those that the model was trained with (Nemotron), or any (Parakeet in windows).
  std::optional<int> look_ahead = {};
  std::string language = "auto";       ///< a name that the model knows; "auto": its own choice
  std::optional<bool> rescore = {};    ///< final results by U2's second pass; nothing: yes
  std::optional<bool> endpoints = {};  ///< utterances end where the model or its rules say so; nothing: yes
  bool continuous = true;              ///< after an endpoint the next utterance begins; otherwise the session is over
  bool forget_turns = false;           ///< Parakeet-EOU begins each turn with a new state
  /// Seconds of speech between partial results of models that recognise segment by segment
  /// (pipelines/segment_session.hpp), and more the longer a segment is; 0: none. Nothing: half a second.
  std::optional<double> partial_seconds = {};
  /// Seconds after which an utterance ends in any case, but for turns of Parakeet-EOU; 0: the model's own limit (a
  /// minute for Qwen3-ASR, or what its file says, and for Parakeet, so that the cost of a step and what partial results
  /// repeat stay bounded; U2 and Paraformer have none).
  double max_utterance_seconds = 0;
  double limit_seconds = 0;  ///< seconds; above 0 no utterance is longer, whatever the model's own limit
  int beam = 0;              ///< width of the search, where the model has one; 0: its own default, 1: greedy
  std::vector<core::hotword> hotwords = {};  ///< phrases that a search favours, or that the model reads first
  /// Bonus for each unit of a phrase, in logarithms of probability; nothing: what suits the search.
  std::optional<float> hotword_score = {};
  const steno::models::language_model* language_model =
      nullptr;                          ///< of the search; must outlive the session; null: none
  std::optional<float> lm_weight = {};  ///< factor of its log-probabilities; 0: none; nothing: what suits the search

  /// f(name, whether it is set) for each option that not every model honours. Every model honours `continuous`, and
  /// `limit_seconds` where it has utterances to end; a beam of 1 is what a model without a search does.
  template <class F>
  void each(F&& f) const {
    f("chunk_size", chunk_size.has_value());
    f("left_chunks", left_chunks.has_value());
    f("left_context", left_context.has_value());
    f("look_ahead", look_ahead.has_value());
    f("language", language != "auto");
    f("rescore", rescore.has_value());
    f("endpoints", endpoints.has_value());
    f("forget_turns", forget_turns);
    f("partial_seconds", partial_seconds.has_value());
    f("max_utterance_seconds", max_utterance_seconds > 0);
    f("beam", beam > 1);
    f("hotwords", !hotwords.empty());
    f("hotword_score", hotword_score.has_value());
    f("language_model", language_model != nullptr);
    f("lm_weight", lm_weight.has_value());
  }
  /// The same with those of them alone whose names `keep` holds for.
  template <class F>
  session_options only(F&& keep) const {
    session_options o = *this;
    const session_options none;
    if (!keep("chunk_size")) o.chunk_size = none.chunk_size;
    if (!keep("left_chunks")) o.left_chunks = none.left_chunks;
    if (!keep("left_context")) o.left_context = none.left_context;
    if (!keep("look_ahead")) o.look_ahead = none.look_ahead;
    if (!keep("language")) o.language = none.language;
    if (!keep("rescore")) o.rescore = none.rescore;
    if (!keep("endpoints")) o.endpoints = none.endpoints;
    if (!keep("forget_turns")) o.forget_turns = none.forget_turns;
    if (!keep("partial_seconds")) o.partial_seconds = none.partial_seconds;
    if (!keep("max_utterance_seconds")) o.max_utterance_seconds = none.max_utterance_seconds;
    if (!keep("beam")) o.beam = none.beam;
    if (!keep("hotwords")) o.hotwords = none.hotwords;
    if (!keep("hotword_score")) o.hotword_score = none.hotword_score;
    if (!keep("language_model")) o.language_model = none.language_model;
    if (!keep("lm_weight")) o.lm_weight = none.lm_weight;
    return o;
  }
  /// Names of those that are set.
  std::vector<std::string_view> names() const {
    std::vector<std::string_view> all;
    each([&](std::string_view name, bool set) {
      if (set) all.push_back(name);
    });
    return all;
  }
  /// Whether one of them has this name.
  static bool has(std::string_view wanted) {
    bool found = false;
    session_options().each([&](std::string_view name, bool) { found = found || wanted == name; });
    return found;
  }
};

/// Where a final result comes from, if not from the end of the audio or a limit of length.
enum class endpoint_kind { none, endpoint, end_of_turn, end_of_backchannel, speaker_change };

namespace streaming {
/// The enumerator's name, for results; empty for none.
constexpr std::string_view endpoint_name(endpoint_kind k) noexcept {
  switch (k) {
    case endpoint_kind::none:
      return "";
    case endpoint_kind::endpoint:
      return "endpoint";
    case endpoint_kind::end_of_turn:
      return "end_of_turn";
    case endpoint_kind::end_of_backchannel:
      return "end_of_backchannel";
    case endpoint_kind::speaker_change:
      return "speaker_change";
  }
  return "";
}

/// A piece of an alternative, milliseconds from the start of the stream.
struct session_piece {
  std::string text;     ///< of the piece, as the tokenizer has it
  extent start_ms = 0;  ///< where it begins
  extent end_ms = 0;    ///< where it ends
};
/// An entry of an n-best list.
struct session_alternative {
  std::string text = {};                   ///< written as the utterance's is
  std::optional<double> score = {};        ///< logarithm of a probability; nothing where the model computes none
  std::vector<session_piece> pieces = {};  ///< in final results of U2
};
}  // namespace streaming

/// A result. Each partial one replaces the one before it, a final one settles its utterance; the last of a session is
/// final. It owns what it holds.
struct session_event {
  streaming::stream_event_kind kind = streaming::stream_event_kind::partial;  ///< partial or final
  endpoint_kind endpoint = endpoint_kind::none;  ///< what ended the utterance, in final results
  /// The utterance from its beginning (`start`) as far as was listened (`end`), in seconds from the start of the
  /// stream. Words are in final results alone.
  segment utterance = {};
  std::string stable = {};           ///< the beginning of the text that will not change any more
  std::optional<double> score = {};  ///< logarithm of a probability; nothing where the model computes none
  /// Probability of the label that ended the turn, of models that have one (Parakeet-EOU); else nothing.
  std::optional<double> eot_confidence = {};
  std::string stop = {};  ///< why a model that writes token by token stopped, as segment::stop_reason; else empty
  /// Best first, at least one; in partial results the best alone. Texts are written as the utterance's is.
  std::vector<streaming::session_alternative> nbest = {};

  bool final() const noexcept { return kind == streaming::stream_event_kind::final; }  ///< it settles its utterance
};

namespace streaming {
/// What a family does with a stream. Specialised for every family that streams, in streaming/FAMILY_session.hpp,
/// and for a model that names its own `session_type`. Constructed from (const Model&, const session_options&, context&)
/// once the options are known to be honoured; throws steno::error for values that make no sense to the model.
///   push(pcm, context, sink), finish(context, sink), over()   as session has them
///   honours(model, option)                                    static: whether an option has an effect, by its name
///   delay(model)                                              static, if results come late: stream_delay()
template <class Model>
class session_body;
/// A model of your own names its session `session_type`.
template <class Model>
requires requires { typename Model::session_type; }
class session_body<Model> : public Model::session_type {
 public:
  /// That of `session_type`.
  using Model::session_type::session_type;
};

namespace detail {
/// A model that has a session_body.
template <class Model>
concept has_session_body = requires {
  sizeof(session_body<Model>);
};
}  // namespace detail

/// Throws steno::error for an option that is set and that the model does not honour: nothing is ignored.
template <detail::has_session_body Model>
STENO_COLD void require_supported(const Model& m, const session_options& o) {
  for (const std::string_view name : o.names())
    if (!session_body<Model>::honours(m, name))
      fail({.what = "option " + std::string(name),
            .expected = "one that the model honours while it streams",
            .found = std::string(Model::architecture)});
}
}  // namespace streaming

/// One stream of a model that streams. The model must outlive it and may be shared by any number of sessions on any
/// threads; a session itself, and the context that is handed to it, is one thread's at a time. Portions that bring no
/// result allocate nothing once a session is warm; a result owns its text.
template <class Model>
requires streaming::detail::has_session_body<Model>
class session {
 public:
  using model_type = Model;  ///< the model's type

  /// Throws steno::error for options that the model does not honour, by name, or that make no sense to it.
  session(const Model& m, const session_options& o, context& c) : body_(checked(m, o), o, c) {}

  /// Takes mono samples in [-1, 1] at the model's rate; calls sink(session_event&&) for every result. Nothing happens
  /// once it is over.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    body_.push(pcm, c, sink);
  }
  /// The audio ends: decodes the rest and emits the last final result, unless it is over.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    body_.finish(c, sink);
  }
  /// After finish(), or an endpoint without `continuous`.
  bool over() const { return body_.over(); }
  /// Whether an option has an effect, by its name in session_options.
  static bool honours(const Model& m, std::string_view option) {
    return option == "continuous" ||
           (session_options::has(option) && streaming::session_body<Model>::honours(m, option));
  }

 private:
  static const Model& checked(const Model& m, const session_options& o) {
    streaming::require_supported(m, o);
    return m;
  }

  streaming::session_body<Model> body_;
};

namespace streaming {
/// A model whose session does what session_body promises.
template <class Model>
concept streaming_recogniser =
    recogniser<Model> && detail::has_session_body<Model> && std::constructible_from < session_body<Model>,
const Model&, const session_options&,
    context& > &&requires(session_body<Model>& s, const session_body<Model>& known, const Model& m,
                          std::span<const float> pcm, context& c, core::sink_ref<session_event> sink) {
  s.push(pcm, c, sink);
  s.finish(c, sink);
  { known.over() } -> std::same_as<bool>;
  { session_body<Model>::honours(m, std::string_view()) } -> std::same_as<bool>;
};

/// Seconds after which a word is in a result of the model's own stream, at the latest: the usual chunk and what it
/// looks ahead, without the time to compute. 0 where session_body does not say.
template <streaming_recogniser Model>
double stream_delay(const Model& m) noexcept {
  if constexpr (requires { session_body<Model>::delay(m); })
    return session_body<Model>::delay(m);
  else
    return 0;
}

/// Seconds after which an utterance ends, for a model whose own limit is `own`; 0: never.
constexpr double utterance_limit(const session_options& o, double own) noexcept {
  const double wanted = o.max_utterance_seconds > 0 ? o.max_utterance_seconds : own;
  return o.limit_seconds > 0 && (wanted <= 0 || wanted > o.limit_seconds) ? o.limit_seconds : wanted;
}
}  // namespace streaming

}  // namespace STENO_ABI
}  // namespace steno

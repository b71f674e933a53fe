// steno/pipelines/any_model.hpp - the recognisers a file may hold, and how each is asked for a clip.
//
// A new family adds its `*_any` type to `any_model` and one overload of recognise(). The architecture named in the file
// picks the alternative. Tested in tests/pipelines.
#pragma once
#include <steno/core/result.hpp>
#include <steno/models/fun_asr_nano.hpp>
#include <steno/models/load.hpp>
#include <steno/models/paraformer.hpp>
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/models/sense_voice.hpp>
#include <steno/models/u2.hpp>
#include <steno/pipelines/long_audio.hpp>
#include <steno/pipelines/transcribe_options.hpp>
#include <steno/pipelines/whisper_hearing.hpp>
#include <steno/streaming/paraformer_stream.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

using any_model =
    std::variant<sense_voice_any, paraformer_any, paraformer_online_any, u2_conformer_any, u2_transformer_any,
                 parakeet_ctc_any, parakeet_transducer_any, whisper_any, qwen3_asr_any, fun_asr_nano_any>;

/// One clip that the model hears at once: mono samples in [-1, 1] at the model's rate; times from the clip's start.
/// Throws steno::error for options the model does not know. What SenseVoice itself calls <|nospeech|> has no text here;
/// extra.raw_text keeps what it wrote, and sense_voice::recognise() gives it as the original does.
inline segment recognise(const sense_voice_any& m, std::span<const float> clip, const transcribe_options& o,
                         context& c) {
  segment s = m.recognise(clip, {.language = o.language, .itn = o.itn}, c);
  if (s.language != "nospeech") return s;
  s.text.clear();
  s.words.clear();
  return s;
}

inline segment recognise(const paraformer_any& m, std::span<const float> clip, const transcribe_options&, context& c) {
  return m.recognise(clip, {}, c);
}

/// A streaming model hears a clip as a stream, from beginning to end.
inline segment recognise(const paraformer_online_any& m, std::span<const float> clip, const transcribe_options&,
                         context& c) {
  segment s;
  s.end = static_cast<double>(clip.size()) / paraformer_online_any::sample_rate;
  paraformer_stream<paraformer_online_any> stream(m, {.sizes = m.default_sizes, .endpoint_pieces = 0});
  const auto sink = [&](const paraformer_event& e) {
    if (e.kind == stream_event_kind::final) m.write_text(e.ids, e.log_probabilities, s);
  };
  stream.push(clip, c, sink);
  stream.finish(c, sink);
  return s;
}

template <class Encoder, class Decoder, extent Vocab, class Kind, class Frontend>
segment recognise(const u2<Encoder, Decoder, Vocab, Kind, Frontend>& m, std::span<const float> clip,
                  const transcribe_options& o, const hotword_automaton& hotwords, context& c) {
  u2_options asked;
  if (o.beam == 1 && hotwords.empty()) asked.search = u2_search::ctc_greedy;
  if (o.beam > 0) asked.beam = o.beam;
  asked.contexts = &hotwords;
  return m.recognise(clip, asked, c);
}

/// The models' own default is greedy; hotwords bring a beam with them.
template <parakeet_ctc_sizes S>
segment recognise(const parakeet_ctc<S>& m, std::span<const float> clip, const transcribe_options& o,
                  const hotword_automaton& hotwords, context& c) {
  return m.recognise(clip, {.beam = o.beam, .contexts = &hotwords}, c);
}
template <parakeet_transducer_sizes S>
segment recognise(const parakeet_transducer<S>& m, std::span<const float> clip, const transcribe_options& o,
                  const hotword_automaton& hotwords, context& c) {
  return m.recognise(clip, {.beam = o.beam, .contexts = &hotwords}, c);
}
/// The turns of a clip, each a segment.
template <parakeet_transducer_sizes S>
std::vector<segment> recognise_turns(const parakeet_transducer<S>& m, std::span<const float> clip,
                                     const transcribe_options& o, const hotword_automaton& hotwords, context& c) {
  return m.recognise_turns(clip, {.beam = o.beam, .contexts = &hotwords}, c);
}

/// A clip that something else cut out (a detector, a server): its segments as one.
inline segment recognise(const whisper_any& m, std::span<const float> clip, const transcribe_options& o,
                         const hotword_automaton& hotwords, context& c) {
  return recognise_clip(m, clip, o, hotwords, c);
}

/// Models that look at all of a recording and find their own way through it; the type that does so.
template <class Model>
struct whole_hearing_of {
  using type = std::monostate;
};
template <>
struct whole_hearing_of<whisper_any> {
  using type = whisper_hearing;
};
template <class Model>
concept hears_whole = !std::is_same_v<typename whole_hearing_of<Model>::type, std::monostate>;
using whole_hearing = std::variant<std::monostate, whisper_hearing>;

/// Where a recording is cut into clips for a model.
template <class Model>
struct clip_rule {
  static constexpr double longest = 30, around = 0;  ///< as in clip_options
  static constexpr double shortest = 0;  ///< seconds; the end of what was cut is filled up with zeros to them
};
/// `split_audio_into_chunks` and its limit of 20 minutes, unless the file says what the model understands.
template <>
struct clip_rule<qwen3_asr_any> {
  static constexpr double longest = 1200, around = 5, shortest = 0.5;
};
STENO_COLD inline clip_options clips_of(const any_model& model, const transcribe_options& o) {
  clip_options c{.voices = o.vad != nullptr, .merge = o.merge};
  std::visit(
      [&]<class Model>(const Model& m) {
        c.longest = clip_rule<Model>::longest;
        c.around = clip_rule<Model>::around;
        if constexpr (requires { m.max_clip_seconds; })
          if (m.max_clip_seconds > 0 && o.longest_segment <= 0) {
            c.longest = m.max_clip_seconds;
            c.around = 0;  // a clip may be shorter but not longer
          }
        if (o.longest_segment > 0) c.longest = o.longest_segment;
        if (o.at_most > 0) c.longest = std::min(c.longest, o.at_most);
      },
      model);
  return c;
}

/// Which decoding options a model takes.
template <class Model>
bool takes(const Model&, std::string_view) {
  return false;
}
/// What language models take besides a first prompt (Qwen3-ASR's context).
constexpr bool of_language_models(std::string_view name) {
  return name == "top_k" || name == "top_p" || name == "max_new_tokens" || name == "max_repeats" || name == "kv_cache";
}
inline bool takes(const whisper_any&, std::string_view name) { return !of_language_models(name); }
inline bool takes(const fun_asr_nano_any&, std::string_view name) {
  return of_language_models(name) || name == "temperature" || name == "seed";
}
inline bool takes(const qwen3_asr_any&, std::string_view name) {
  return of_language_models(name) || name == "temperature" || name == "seed" || name == "initial_prompt";
}
/// Those of `o` that the model does not take.
STENO_COLD inline std::vector<std::string> refused_options(const any_model& model, const decoding_options& o) {
  std::vector<std::string> names = o.names();
  std::visit([&](const auto& m) { std::erase_if(names, [&](const std::string& n) { return takes(m, n); }); }, model);
  return names;
}

/// Whether `language` is "auto" or one that the model knows.
STENO_COLD inline bool knows_language(const any_model& model, const std::string& language) {
  return language == "auto" || std::visit(
                                   [&](const auto& m) {
                                     if constexpr (requires { m.supports_language(language); }) {
                                       return m.supports_language(language);
                                     } else {
                                       const std::vector<std::string> known = m.languages();
                                       return known.empty() ||
                                              std::find(known.begin(), known.end(), language) != known.end();
                                     }
                                   },
                                   model);
}

/// Whether recognise() searches with a beam and so takes hotwords: it then has an overload with their graph.
template <class Model>
concept searching = requires(const Model& m, std::span<const float> clip, const transcribe_options& o,
                             const hotword_automaton& g, context& c) {
  recognise(m, clip, o, g, c);
};

/// Whether a clip may hold several turns, each of which is a segment.
template <class Model>
concept telling_turns = requires(const Model& m, std::span<const float> clip, const transcribe_options& o,
                                 const hotword_automaton& g, context& c) {
  recognise_turns(m, clip, o, g, c);
};

inline bool has_beam_search(const any_model& model) {
  return std::visit([]<class Model>(const Model&) { return searching<Model>; }, model);
}

/// Whether hotwords can be favoured: by the search, or because the model reads them in its prompt.
inline bool takes_hotwords(const any_model& model) {
  return std::visit(
      []<class Model>(const Model&) {
        if constexpr (requires { Model::hotwords_in_prompt; })
          return true;
        else
          return searching<Model>;
      },
      model);
}

/// What a unit of a hotword earns unless the options say otherwise.
inline float usual_hotword_score(const any_model& model) {
  return std::visit(
      []<class Model>(const Model&) {
        if constexpr (requires { Model::hotword_score; })
          return Model::hotword_score;
        else
          return hotword_options{}.score;
      },
      model);
}

/// The hotwords of `o` in the model's units. Throws steno::error for phrases that it cannot write, and for any with a
/// model that does not search.
STENO_COLD inline hotword_automaton hotword_graph(const any_model& model, const transcribe_options& o) {
  if (o.hotwords.empty()) return {};
  std::vector<std::vector<int>> phrases;
  std::visit(
      [&]<class Model>(const Model& m) {
        if constexpr (searching<Model>) {
          for (const std::string& p : o.hotwords) {
            auto units = m.tokenizer.split(p);
            if (!units)
              fail({.what = "hotword " + steno::quoted(p), .expected = "characters that are among the model's units"});
            phrases.push_back(std::move(*units));
          }
        } else if constexpr (!requires { Model::hotwords_in_prompt; }) {
          fail({.what = "hotwords",
                .expected = "a model that favours some in its search or reads them in its prompt",
                .found = std::string(Model::architecture)});
        }
      },
      model);
  return hotword_automaton(phrases, {.score = o.hotword_score.value_or(usual_hotword_score(model))});
}

namespace detail {
/// What both language models are asked in the same way. Throws steno::error for several temperatures.
template <class Options>
STENO_COLD void ask_language_model(const decoding_options& o, Options& asked) {
  if (o.temperature && o.temperature->size() != 1)
    fail({.what = "temperatures", .expected = "one", .hint = "the model has no windows that fail"});
  if (o.temperature) asked.sampling.temperature = o.temperature->front();
  asked.sampling.seed = o.seed.value_or(0);
  asked.sampling.top_k = o.top_k.value_or(0);
  asked.sampling.top_p = o.top_p.value_or(1);
  if (o.max_new_tokens) asked.max_new_tokens = *o.max_new_tokens;
  if (o.max_repeats) asked.repeats = *o.max_repeats;
  asked.cache = o.kv_cache;
}
}  // namespace detail

/// The language is a name ("English") or a code; a first prompt and phrases are what the model is told before it
/// listens. A long clip may have eight tokens a second, which is more than anybody says.
inline qwen3_asr_options qwen3_options(std::size_t count, const transcribe_options& o) {
  qwen3_asr_options asked{.language = o.language, .context = o.decoding.initial_prompt.value_or("")};
  for (const std::string& p : o.hotwords) asked.context.append(asked.context.empty() ? "" : ", ").append(p);
  asked.max_new_tokens = std::max(asked.max_new_tokens, static_cast<int>(count / (qwen3_asr_any::sample_rate / 8)));
  detail::ask_language_model(o.decoding, asked);
  return asked;
}
inline segment recognise(const qwen3_asr_any& m, std::span<const float> clip, const transcribe_options& o, context& c) {
  return m.recognise(clip, qwen3_options(clip.size(), o), c);
}
/// Several clips, which are written together: each step reads the weights once for a token of each.
inline std::vector<segment> recognise(const qwen3_asr_any& m, std::span<const std::span<const float>> clips,
                                      const transcribe_options& o, context& c) {
  std::size_t longest = 0;
  for (const auto& clip : clips) longest = std::max(longest, clip.size());
  return m.recognise(clips, qwen3_options(longest, o), c);
}
template <class Model>
concept writes_together = requires(const Model& m, std::span<const std::span<const float>> clips,
                                   const transcribe_options& o, context& c) {
  recognise(m, clips, o, c);
};
/// Asked as the original asks by default, with inverse text normalisation.
inline segment recognise(const fun_asr_nano_any& m, std::span<const float> clip, const transcribe_options& o,
                         context& c) {
  fun_asr_nano_options asked{.language = o.language, .hotwords = o.hotwords};
  detail::ask_language_model(o.decoding, asked);
  return m.recognise(clip, asked, c);
}

namespace detail {
template <class... Models>
[[gnu::noinline]] any_model open_model(const std::variant<Models...>*, gguf_file file, const executor& run,
                                       std::vector<std::byte> image) {
  const std::string found = file.text("general.architecture").value_or("");
  std::string known;
  std::unique_ptr<any_model> opened;
  const auto attempt = [&]<class Model>() {
    known.append(known.empty() ? "" : ", ").append(Model::architecture);
    if (opened == nullptr && found == Model::architecture)
      opened = std::make_unique<any_model>(load<Model>(std::move(file), run, std::move(image)));
  };
  (attempt.template operator()<Models>(), ...);
  if (opened != nullptr) return std::move(*opened);
  fail({.where = file.where(),
        .what = "general.architecture",
        .expected = known,
        .found = "\"" + found + "\"",
        .hint = file.has("steno.version") ? "this model transcribes nothing by itself"
                                          : "steno-convert makes a packaged file from a checkpoint"});
}
template <class... Models>
bool any_is(const std::variant<Models...>*, std::string_view architecture) {
  return ((architecture == Models::architecture) || ...);
}
}  // namespace detail

/// Whether files of this architecture hold a model that transcribes.
inline bool transcribes(std::string_view architecture) {
  return detail::any_is(static_cast<const any_model*>(nullptr), architecture);
}

/// The model that `file` names. Throws steno::error. `image` owns its bytes when they are in memory.
inline any_model open_model(gguf_file file, const executor& run, std::vector<std::byte> image) {
  return detail::open_model(static_cast<const any_model*>(nullptr), std::move(file), run, std::move(image));
}

}  // namespace STENO_ABI
}  // namespace steno

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
#include <steno/models/whisper_transcribe.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/streaming/paraformer_stream.hpp>

#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace steno::inline STENO_ABI {

/// Reference to a callable f(double seconds_done, double seconds_total); called after each piece. Empty by default.
class progress_ref {
 public:
  progress_ref() = default;
  template <class F>
  requires(!std::is_same_v<std::remove_cvref_t<F>, progress_ref> && std::is_invocable_v<F&, double, double>)
      progress_ref(F& f)
      : self_(const_cast<void*>(static_cast<const void*>(std::addressof(f)))),
        call_([](void* self, double done, double total) { (*static_cast<F*>(self))(done, total); }) {}
  void operator()(double done, double total) const {
    if (call_ != nullptr) call_(self_, done, total);
  }

 private:
  void* self_ = nullptr;
  void (*call_)(void*, double, double) = nullptr;
};

struct transcribe_options {
  std::string language = "auto";
  bool itn = false;             ///< digits and punctuation where the model can write them
  double longest_segment = 30;  ///< seconds; longer recordings and segments are cut at quiet places
  /// Finds speech first, at the model's rate; null: everything is transcribed.
  const any_vad* vad = nullptr;
  steno::vad_settings vad_settings = {};
  double merge = 0;  ///< seconds; segments of the detector are joined up to this length
  /// So many clips are transcribed at the same time, each on one thread; the results are the same.
  int at_once = 1;
  int beam = 0;  ///< width of the search, where the model has one; 0: its own default, 1: greedy
  std::vector<std::string> hotwords = {};  ///< phrases to favour; needs a search
  float hotword_score = 3;                 ///< bonus for each unit of a phrase, in logarithms of probability
  progress_ref progress = {};
};

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
  paraformer_stream<paraformer_online_any> stream(m, {.sizes = m.usual, .endpoint_pieces = 0});
  const auto sink = [&](const paraformer_event& e) {
    if (e.kind == stream_event_kind::final) m.write_text(e.ids, e.log_probabilities, s);
  };
  stream.push(clip, c, sink);
  stream.finish(c, sink);
  return s;
}

template <class Encoder, class Decoder, extent Vocab, class Kind, class Frontend>
segment recognise(const u2<Encoder, Decoder, Vocab, Kind, Frontend>& m, std::span<const float> clip,
                  const transcribe_options& o, const context_graph& hotwords, context& c) {
  u2_options asked;
  if (o.beam == 1 && hotwords.empty()) asked.search = u2_search::ctc_greedy;
  if (o.beam > 0) asked.beam = o.beam;
  asked.contexts = &hotwords;
  return m.recognise(clip, asked, c);
}

/// The models' own default is greedy; hotwords bring a beam with them.
template <class Encoder, extent Labels, class Frontend>
segment recognise(const parakeet_ctc<Encoder, Labels, Frontend>& m, std::span<const float> clip,
                  const transcribe_options& o, const context_graph& hotwords, context& c) {
  return m.recognise(clip, {.beam = o.beam, .contexts = &hotwords}, c);
}
template <class Encoder, extent Predictor, extent PredictorLayers, extent Joint, extent Labels, extent Outputs,
          class Frontend>
segment recognise(const parakeet_transducer<Encoder, Predictor, PredictorLayers, Joint, Labels, Outputs, Frontend>& m,
                  std::span<const float> clip, const transcribe_options& o, const context_graph& hotwords, context& c) {
  return m.recognise(clip, {.beam = o.beam, .contexts = &hotwords}, c);
}

/// Whisper finds its own windows in a recording of any length, each with what was said before as its prompt, so it is
/// given all of it: sink(segment&&) for every segment, progress(seconds).
template <extent Mels, extent D, extent Heads, extent AudioLayers, extent TextLayers, extent Vocab, class Sink,
          class Progress>
STENO_COLD void recognise_whole(const whisper<Mels, D, Heads, AudioLayers, TextLayers, Vocab>& m,
                                std::span<const float> pcm, const transcribe_options& o, context& c, Sink&& sink,
                                Progress&& progress) {
  whisper_transcribe_options asked;
  if (o.language != "auto") {
    asked.decode.language = m.tokenizer.find_language(o.language);
    if (asked.decode.language < 0 || (!m.tokenizer.multilingual && asked.decode.language != 0))
      fail({.what = "language " + steno::quoted(o.language), .expected = "one that the model knows"});
  }
  if (o.beam > 1) asked.decode.beam_size = o.beam;
  whisper_transcribed r = whisper_transcribe(m, pcm, asked, c, progress);
  for (whisper_segment& s : r.segments) {
    segment told;
    told.start = s.start;
    told.end = s.end;
    told.text = std::string(unicode::strip(s.text));
    told.token_ids = std::move(s.tokens);
    told.language = std::string(whisper_tokens::code(r.language));
    told.extra = {{"temperature", s.temperature},
                  {"avg_logprob", s.avg_logprob},
                  {"compression_ratio", s.compression_ratio},
                  {"no_speech_prob", s.no_speech_prob}};
    sink(std::move(told));
  }
}
/// A clip that something else cut out (a detector, a server): its segments as one.
inline segment recognise(const whisper_any& m, std::span<const float> clip, const transcribe_options& o, context& c) {
  segment all;
  all.end = static_cast<double>(clip.size()) / m.sample_rate;
  const auto join = [&](segment s) {
    if (all.token_ids.empty()) all.extra = s.extra;
    all.language = s.language;
    if (!all.text.empty() && !s.text.empty()) all.text += ' ';
    all.text += s.text;
    all.token_ids.insert(all.token_ids.end(), s.token_ids.begin(), s.token_ids.end());
  };
  recognise_whole(m, clip, o, c, join, [](double) {});
  return all;
}

/// Whether the model is given whole recordings.
template <class Model>
concept hears_whole = requires(const Model& m, std::span<const float> pcm, const transcribe_options& o, context& c,
                               void (*sink)(segment), void (*progress)(double)) {
  recognise_whole(m, pcm, o, c, sink, progress);
};

/// Whether recognise() searches with a beam and so takes hotwords: it then has an overload with their graph.
template <class Model>
concept searching = requires(const Model& m, std::span<const float> clip, const transcribe_options& o,
                             const context_graph& g, context& c) {
  recognise(m, clip, o, g, c);
};

inline bool has_beam_search(const any_model& model) {
  return std::visit([]<class Model>(const Model&) { return searching<Model> || std::is_same_v<Model, whisper_any>; },
                    model);
}

/// The hotwords of `o` in the model's units. Throws steno::error for phrases that it cannot write, and for any with a
/// model that does not search.
STENO_COLD inline context_graph hotword_graph(const any_model& model, const transcribe_options& o) {
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
                .expected = "a model that searches with a beam",
                .found = std::string(Model::architecture)});
        }
      },
      model);
  return context_graph(phrases, {.score = o.hotword_score});
}

/// The language is a name ("English") or a code; phrases are what the model is told before it listens.
inline segment recognise(const qwen3_asr_any& m, std::span<const float> clip, const transcribe_options& o, context& c) {
  qwen3_asr_options asked{.language = o.language};
  for (const std::string& p : o.hotwords) asked.context.append(asked.context.empty() ? "" : ", ").append(p);
  return m.recognise(clip, asked, c);
}
/// Asked as the original asks by default, with inverse text normalisation.
inline segment recognise(const fun_asr_nano_any& m, std::span<const float> clip, const transcribe_options& o,
                         context& c) {
  return m.recognise(clip, {.language = o.language, .hotwords = o.hotwords}, c);
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
        .hint = "steno-convert makes a packaged file from a checkpoint"});
}
}  // namespace detail

/// The model that `file` names. Throws steno::error. `image` owns its bytes when they are in memory.
inline any_model open_model(gguf_file file, const executor& run, std::vector<std::byte> image) {
  return detail::open_model(static_cast<const any_model*>(nullptr), std::move(file), run, std::move(image));
}

}  // namespace steno::inline STENO_ABI

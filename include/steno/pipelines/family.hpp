// steno/pipelines/family.hpp - how a model takes part in the pipelines: which options it supports and what they become
// of its own, and how its recordings are cut.
//
// family_defaults is what any recogniser gets, a user's own too: each option goes to the member of the model's own
// options that has its name. A built-in family says what differs in pipelines/FAMILY.hpp. Tested in
// tests/pipelines/recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/models/language_model.hpp>
#include <steno/models/recogniser.hpp>
#include <steno/pipelines/long_audio.hpp>
#include <steno/pipelines/transcribe_options.hpp>
#include <steno/search/guide.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

namespace detail {
struct loaded_model;
struct model_file;
/// What opens the models of a family: files whose `general.architecture` is one of theirs. Who takes a family as a type
/// has no use for it, so that its body is elsewhere: loaded_model.hpp.
template <class... Models>  // constrained where they are loaded: a name alone compiles no model
struct family_of {
  static constexpr std::string_view architectures[] = {Models::architecture...};
  /// Throws steno::error.
  static std::unique_ptr<const loaded_model> open(model_file& f);
};

template <class Options>
concept has_language = requires(Options o, const std::string& language) {
  o.language = language;
};
template <class Options>
concept has_itn = requires(Options o) {
  o.itn = true;
};
template <class Options>
concept has_beam = requires(Options o) {
  o.beam = 1;
};
template <class Options>
concept has_writing = requires(Options o, const core::text_ref& to) {
  o.writing = to;
};
/// Hotwords that a search favours, as an automaton of the tokenizer's units.
template <class Options>
concept has_hotwords = requires(Options o, const search::hotword_automaton& a) {
  o.hotwords = &a;
};
/// A language model that a search takes part of.
template <class Options>
concept has_words = requires(Options o, const search::word_scorer& s) {
  o.words = &s;
};
/// Hotwords that a network of the model's own encodes.
template <class Model>
concept encodes_hotwords = requires {
  Model::hotwords_encoded;
};
}  // namespace detail

/// What any recogniser gets; a family derives from it and says what differs.
template <recogniser Model>
struct family_defaults {
  using model_options = typename Model::options;         ///< the model's own
  static constexpr segmentation::cut_policy clips = {};  ///< where recordings are cut
  static constexpr bool shares_clips = false;  ///< a clip costs the same whatever its length: segments share them
  static constexpr bool searches_hotwords = detail::has_hotwords<model_options>;  ///< a search favours them

  /// Whether the model has a use for an option, by its name in transcribe_options or decoding_options.
  static bool supports(const Model& m, std::string_view option) {
    if (option == "language") return detail::has_language<model_options> && !m.languages().empty();
    if (option == "itn") return detail::has_itn<model_options>;
    if (option == "beam") return detail::has_beam<model_options>;
    if (option == "hotwords") return searches_hotwords || detail::encodes_hotwords<Model>;
    if (option == "hotword_score") return searches_hotwords;
    if (option == "language_model" || option == "lm_weight") return detail::has_words<model_options>;
    if (option == "writing") return detail::has_writing<model_options>;
    return option == "max_clip_seconds" || option == "parallel_clips";
  }
  /// Whether the model's supports_language() or, where it has none, its languages() know it; any without such a list.
  static bool supports_language(const Model& m, const std::string& language) {
    if constexpr (requires { m.supports_language(language); }) {
      return m.supports_language(language);
    } else {
      const std::vector<std::string> all = m.languages();
      return all.empty() || std::find(all.begin(), all.end(), language) != all.end();
    }
  }
  /// What a unit of a hotword earns unless the options say otherwise.
  static float hotword_score() { return models::default_hotword_score<Model>(); }

  /// The model's own options for clips of up to `samples` samples. What is favoured must outlive them.
  static model_options options(const Model&, const transcribe_options& o, const search::guides& guides,
                               std::size_t /*samples*/) {
    model_options own;
    if constexpr (detail::has_language<model_options>) own.language = o.language;
    if constexpr (detail::has_itn<model_options>)
      if (o.itn) own.itn = *o.itn;
    if constexpr (detail::has_beam<model_options>)
      if (o.beam > 0) own.beam = o.beam;
    if constexpr (searches_hotwords) own.hotwords = &guides.hotwords;
    if constexpr (detail::has_words<model_options>) own.words = guides.lm();
    if constexpr (detail::has_writing<model_options>) own.writing = o.writing;
    return own;
  }
};

namespace detail {
template <class Model>
concept of_a_family = requires {
  Model::family_header;
};
}  // namespace detail

/// Specialised for built-in families. A model's header alone does not know the pipelines, so it names the header that
/// does: without that, a family would be treated like any other model.
template <recogniser Model>
struct family : family_defaults<Model> {
  static_assert(!detail::of_a_family<Model>, "include the header that Model::family_header names");
};

/// One clip to segments: one, or from a model that finds the turns of speakers one for each.
template <recogniser Model>
std::vector<segment> recognise_clip(const Model& m, std::span<const float> pcm, const transcribe_options& o,
                                    const search::guides& guides, context& c) {
  using f = family<Model>;
  const auto own = f::options(m, o, guides, pcm.size());
  if constexpr (requires { f::recognise_turns(m, pcm, own, c); }) {
    return f::recognise_turns(m, pcm, own, c);
  } else {
    std::vector<segment> one;
    if constexpr (requires { f::recognise(m, pcm, own, c); })
      one.push_back(f::recognise(m, pcm, own, c));
    else
      one.push_back(m.recognise(pcm, own, c));
    return one;
  }
}

/// Models that recognise several clips together, faster than one after the other and with the same results.
template <class Model>
concept recognises_together = requires(const Model& m, std::span<const std::span<const float>> clips,
                                       const typename Model::options& o, context& c) {
  family<Model>::recognise_together(m, clips, o, c);
};

/// Models that find their own way through a recording; a detector may cut it for them all the same.
template <class Model>
concept recognises_whole = requires {
  typename family<Model>::whole_recording;
};

/// Whether an option has an effect, with or without a voice activity detector.
template <recogniser Model>
STENO_COLD bool supports_option(const Model& m, std::string_view option, bool vad) {
  if (recognises_whole<Model> && !vad && (option == "max_clip_seconds" || option == "parallel_clips")) return false;
  return family<Model>::supports(m, option);
}

/// Names of the options that are set and that not every model supports.
STENO_ON_CALL STENO_COLD inline std::vector<std::string> set_options(const transcribe_options& o) {
  std::vector<std::string> names = o.decoding.names();
  if (o.language != "auto") names.push_back("language");
  if (!o.target_language.empty()) names.push_back("target_language");
  if (o.punctuation) names.push_back("punctuation");
  if (o.itn) names.push_back("itn");
  if (o.beam > 1) names.push_back("beam");  // 1 is what a model without a search does
  if (!o.hotwords.empty()) names.push_back("hotwords");
  if (o.hotword_score) names.push_back("hotword_score");
  if (o.language_model != nullptr) names.push_back("language_model");
  if (o.lm_weight) names.push_back("lm_weight");
  if (o.max_clip_seconds > 0) names.push_back("max_clip_seconds");
  if (o.parallel_clips > 1) names.push_back("parallel_clips");
  if (o.look_ahead) names.push_back("look_ahead");
  if (o.writing) names.push_back("writing");
  return names;
}

namespace detail {
[[noreturn]] STENO_COLD inline void refuse_option(const std::string& option, std::string_view architecture) {
  fail({.what = "option " + option, .expected = "one that the model supports", .found = std::string(architecture)});
}
[[noreturn]] STENO_COLD inline void refuse_language(const std::string& what, std::span<const std::string> languages) {
  std::string known;
  for (const std::string& l : languages) known.append(known.empty() ? "" : ", ").append(l);
  fail({.what = what, .expected = "one of " + known});
}
/// What does not depend on the model's type.
STENO_COLD inline void require_consistent(const transcribe_options& o, int sample_rate) {
  if (o.writing && o.parallel_clips > 1)
    fail({.what = "option writing", .expected = "one clip at a time", .found = std::to_string(o.parallel_clips)});
  if (o.vad != nullptr && o.vad->sample_rate() != sample_rate)
    fail({.what = "sample rate of the voice activity detector " + std::string(o.vad->name()),
          .expected = std::to_string(sample_rate) + " Hz, as the model's",
          .found = std::to_string(o.vad->sample_rate())});
}
}  // namespace detail

/// Throws steno::error for an option that is set and that the model does not support: nothing is ignored.
template <recogniser Model>
STENO_COLD void require_supported(const Model& m, const transcribe_options& o) {
  for (const std::string& name : set_options(o))
    if (!supports_option(m, name, o.vad != nullptr)) detail::refuse_option(name, Model::architecture);
  detail::require_consistent(o, m.sample_rate);
  const auto require_known = [&](const char* name, const std::string& language) {
    if (language != "auto" && !language.empty() && !family<Model>::supports_language(m, language))
      detail::refuse_language(name + steno::weights::quoted(language), m.languages());
  };
  require_known("language ", o.language);
  require_known("target language ", o.target_language);
}

/// What `o` favours, in the model's units; nothing for a model that encodes hotwords. Throws steno::error for phrases
/// that it cannot write.
template <recogniser Model>
STENO_COLD search::guides guides_of(const Model& m, const transcribe_options& o) {
  if constexpr (family<Model>::searches_hotwords) {
    return models::guides_of(m, o.hotwords, o.hotword_score, o.language_model, o.lm_weight);
  } else {
    for (const core::hotword& h : o.hotwords)
      if (h.weight != 1)
        fail({.what = "weight of hotword " + steno::weights::quoted(h.phrase),
              .expected = "none",
              .hint = "this model reads hotwords by itself, and does not count"});
    return {};
  }
}
/// Phrases alone, for models that read them.
STENO_ON_CALL STENO_COLD inline std::vector<std::string> phrases_of(std::span<const core::hotword> all) {
  std::vector<std::string> phrases;
  for (const core::hotword& h : all) phrases.push_back(h.phrase);
  return phrases;
}

/// How recordings are cut for this model with these options.
template <recogniser Model>
STENO_COLD clip_options clips_of(const Model& m, const transcribe_options& o) {
  clip_options c{.cut = family<Model>::clips,
                 .voices = o.vad != nullptr,
                 .merge_seconds = o.merge_seconds.value_or(0),
                 .share = family<Model>::shares_clips && !o.merge_seconds};
  if constexpr (requires { m.max_clip_seconds; })
    if (m.max_clip_seconds > 0 && o.max_clip_seconds <= 0) {
      c.cut.max_seconds = m.max_clip_seconds;
      c.cut.rule = segmentation::cut_rule::within;  // a clip may be shorter but not longer
    }
  if (o.max_clip_seconds > 0) c.cut.max_seconds = o.max_clip_seconds;
  if (o.limit_seconds > 0) c.cut.max_seconds = std::min(c.cut.max_seconds, o.limit_seconds);
  return c;
}

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno

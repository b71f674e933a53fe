// steno/pipelines/fun_asr_nano.hpp - Fun-ASR-Nano in the pipelines.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/fun_asr_nano.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/language_model_options.hpp>

#include <cstddef>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// As the original by default, with inverse text normalisation. Hotwords stand in the prompt, and are favoured where
/// the model writes.
template <funasr::fun_asr_nano_sizes S, class Frontend>
struct family<funasr::fun_asr_nano<S, Frontend>> : family_defaults<funasr::fun_asr_nano<S, Frontend>> {
  using model = funasr::fun_asr_nano<S, Frontend>;
  static constexpr bool searches_hotwords = true;

  static bool supports(const model& m, std::string_view option) {
    if (option == "word_timestamps") return m.aligns();
    return of_language_models(option) || option == "temperature" || option == "seed" || option == "hotwords" ||
           option == "hotword_score" || family_defaults<model>::supports(m, option);
  }
  static funasr::fun_asr_nano_options options(const model&, const transcribe_options& o, const search::guides& guides,
                                              std::size_t) {
    funasr::fun_asr_nano_options own{.language = o.language, .itn = o.itn.value_or(true)};
    if (qwen3::hotwords_in_prompt(o.hotwords)) own.hotwords = phrases_of(o.hotwords);
    own.word_timestamps = o.decoding.word_timestamps.value_or(true);
    detail::set_language_model_options(o.decoding, own);
    own.writing = o.writing;
    own.favoured = &guides.hotwords;
    own.earlier = guides.earlier;
    return own;
  }
};

namespace detail {
using fun_asr_nano_family = family_of<funasr::fun_asr_nano_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<funasr::fun_asr_nano_any>;
STENO_MODEL_FUNCTIONS(template, funasr::fun_asr_nano<funasr::fun_asr_nano_sizes{}, frontends::wav_frontend_any>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<funasr::fun_asr_nano_any>;
STENO_MODEL_FUNCTIONS(extern template, funasr::fun_asr_nano<funasr::fun_asr_nano_sizes{}, frontends::wav_frontend_any>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

// steno/pipelines/qwen3_asr.hpp - Qwen3-ASR in the pipelines.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/qwen3_asr.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/language_model_options.hpp>
#include <steno/streaming/qwen3_session.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// The language is a name ("English") or a code; a first prompt and hotwords are text that the model reads before the
/// audio, and hotwords are favoured where it writes.
template <qwen3::qwen3_sizes S>
struct family<qwen3::qwen3_asr<S>> : family_defaults<qwen3::qwen3_asr<S>> {
  using model = qwen3::qwen3_asr<S>;
  /// As the original cuts, unless the file says what the model understands.
  static constexpr segmentation::cut_policy clips = qwen3::qwen3_cuts;

  static bool supports(const model& m, std::string_view option) {
    return of_language_models(option) || option == "temperature" || option == "seed" || option == "initial_prompt" ||
           (option != "itn" && option != "beam" && family_defaults<model>::supports(m, option));
  }
  static qwen3::qwen3_asr_options options(const model&, const transcribe_options& o, const search::guides& guides,
                                          std::size_t count) {
    qwen3::qwen3_asr_options own{.language = o.language, .prompt = o.decoding.initial_prompt.value_or("")};
    qwen3::add_hotwords(own.prompt, o.hotwords);
    // A long clip may have eight tokens a second, which is more than anybody speaks.
    own.max_new_tokens = std::max(own.max_new_tokens, static_cast<int>(count / (model::sample_rate / 8)));
    detail::set_language_model_options(o.decoding, own);
    own.writing = o.writing;
    own.hotwords = &guides.hotwords;
    own.earlier = guides.earlier;
    return own;
  }
  /// Each step reads the weights once for a token of each clip.
  static std::vector<segment> recognise_together(const model& m, std::span<const std::span<const float>> batch,
                                                 const qwen3::qwen3_asr_options& o, context& c) {
    return m.recognise(batch, o, c);
  }
};

namespace detail {
using qwen3_asr_family = family_of<qwen3::qwen3_asr_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<qwen3::qwen3_asr_any>;
STENO_MODEL_FUNCTIONS(template, qwen3::qwen3_asr<qwen3::qwen3_sizes{}>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<qwen3::qwen3_asr_any>;
STENO_MODEL_FUNCTIONS(extern template, qwen3::qwen3_asr<qwen3::qwen3_sizes{}>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

// steno/pipelines/sense_voice.hpp - SenseVoice in the pipelines.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/sense_voice.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>

#include <span>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// What SenseVoice itself calls <|nospeech|> has no text here; extra.raw_text keeps what it wrote, and
/// sense_voice::recognise() gives it as the original does.
template <funasr::sense_voice_sizes S, class Frontend>
struct family<funasr::sense_voice<S, Frontend>> : family_defaults<funasr::sense_voice<S, Frontend>> {
  static segment recognise(const funasr::sense_voice<S, Frontend>& m, std::span<const float> pcm,
                           const funasr::sense_voice_options& o, context& c) {
    segment s = m.recognise(pcm, o, c);
    if (s.language != "nospeech") return s;
    s.text.clear();
    s.words.clear();
    return s;
  }
};

namespace detail {
using sense_voice_family = family_of<funasr::sense_voice_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<funasr::sense_voice_any>;
STENO_MODEL_FUNCTIONS(template, funasr::sense_voice<funasr::sense_voice_sizes{}, frontends::wav_frontend_any>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<funasr::sense_voice_any>;
STENO_MODEL_FUNCTIONS(extern template, funasr::sense_voice<funasr::sense_voice_sizes{}, frontends::wav_frontend_any>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

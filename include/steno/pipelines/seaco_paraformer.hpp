// steno/pipelines/seaco_paraformer.hpp - BiCif, SeACo and contextual Paraformer in the pipelines.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/bicif_paraformer.hpp>
#include <steno/models/contextual_paraformer.hpp>
#include <steno/models/seaco_paraformer.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>

#include <cstddef>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

template <funasr::paraformer_sizes S, class Frontend>
struct family<funasr::bicif_paraformer<S, Frontend>> : family_defaults<funasr::bicif_paraformer<S, Frontend>> {};

/// Without hotwords the second decoder does not run.
template <funasr::seaco_paraformer_sizes S, class Frontend>
struct family<funasr::seaco_paraformer<S, Frontend>> : family_defaults<funasr::seaco_paraformer<S, Frontend>> {
  static funasr::seaco_paraformer_options options(const funasr::seaco_paraformer<S, Frontend>&,
                                                  const transcribe_options& o, const search::guides&, std::size_t) {
    funasr::seaco_paraformer_options own;
    if (!o.hotwords.empty()) own.hotwords = phrases_of(o.hotwords);
    return own;
  }
};

template <funasr::paraformer_sizes S, class Frontend>
struct family<funasr::contextual_paraformer<S, Frontend>>
    : family_defaults<funasr::contextual_paraformer<S, Frontend>> {
  static funasr::contextual_paraformer_options options(const funasr::contextual_paraformer<S, Frontend>&,
                                                       const transcribe_options& o, const search::guides&,
                                                       std::size_t) {
    return {.hotwords = phrases_of(o.hotwords)};
  }
};

namespace detail {
using seaco_paraformer_family =
    family_of<funasr::seaco_paraformer_any, funasr::bicif_paraformer_any, funasr::contextual_paraformer_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<funasr::seaco_paraformer_any, funasr::bicif_paraformer_any,
                                             funasr::contextual_paraformer_any>;
STENO_MODEL_FUNCTIONS(template,
                      funasr::seaco_paraformer<funasr::seaco_paraformer_sizes{}, frontends::wav_frontend_any>);
STENO_MODEL_FUNCTIONS(template, funasr::bicif_paraformer<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
STENO_MODEL_FUNCTIONS(template, funasr::contextual_paraformer<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<funasr::seaco_paraformer_any, funasr::bicif_paraformer_any,
                                                    funasr::contextual_paraformer_any>;
STENO_MODEL_FUNCTIONS(extern template,
                      funasr::seaco_paraformer<funasr::seaco_paraformer_sizes{}, frontends::wav_frontend_any>);
STENO_MODEL_FUNCTIONS(extern template,
                      funasr::bicif_paraformer<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
STENO_MODEL_FUNCTIONS(extern template,
                      funasr::contextual_paraformer<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

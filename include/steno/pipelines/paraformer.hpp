// steno/pipelines/paraformer.hpp - Paraformer in the pipelines, the offline and the online one.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/paraformer.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/streaming/paraformer_session.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

template <funasr::paraformer_sizes S, class Frontend>
struct family<funasr::paraformer<S, Frontend>> : family_defaults<funasr::paraformer<S, Frontend>> {};
template <funasr::paraformer_sizes S, class Frontend>
struct family<funasr::paraformer_online<S, Frontend>> : family_defaults<funasr::paraformer_online<S, Frontend>> {};

namespace detail {
using paraformer_family = family_of<funasr::paraformer_any, funasr::paraformer_online_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<funasr::paraformer_any, funasr::paraformer_online_any>;
STENO_MODEL_FUNCTIONS(template, funasr::paraformer<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
STENO_MODEL_FUNCTIONS(template, funasr::paraformer_online<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<funasr::paraformer_any, funasr::paraformer_online_any>;
STENO_MODEL_FUNCTIONS(extern template, funasr::paraformer<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
STENO_MODEL_FUNCTIONS(extern template,
                      funasr::paraformer_online<funasr::paraformer_sizes{}, frontends::wav_frontend_any>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

// steno/pipelines/u2.hpp - WeNet U2 and U2++ in the pipelines.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/u2.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/streaming/u2_session.hpp>

#include <cstddef>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// The model's own search is attention rescoring of a beam; a beam of 1 without hotwords is the best path.
template <wenet::u2_sizes S, class Kind, class Frontend>
struct family<wenet::u2<S, Kind, Frontend>> : family_defaults<wenet::u2<S, Kind, Frontend>> {
  using model = wenet::u2<S, Kind, Frontend>;
  static wenet::u2_options options(const model& m, const transcribe_options& o, const steno::search::guides& guides,
                                   std::size_t count) {
    wenet::u2_options own = family_defaults<model>::options(m, o, guides, count);
    if (o.beam == 1 && guides.empty()) own.search = wenet::u2_search::ctc_greedy;
    return own;
  }
};

namespace detail {
using u2_family = family_of<wenet::u2_conformer_any, wenet::u2_transformer_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<wenet::u2_conformer_any, wenet::u2_transformer_any>;
STENO_MODEL_FUNCTIONS(template, wenet::u2<wenet::u2_sizes{}, wenet::detail::u2_conformer_kind>);
STENO_MODEL_FUNCTIONS(template, wenet::u2<wenet::u2_sizes{}, wenet::detail::u2_transformer_kind>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<wenet::u2_conformer_any, wenet::u2_transformer_any>;
STENO_MODEL_FUNCTIONS(extern template, wenet::u2<wenet::u2_sizes{}, wenet::detail::u2_conformer_kind>);
STENO_MODEL_FUNCTIONS(extern template, wenet::u2<wenet::u2_sizes{}, wenet::detail::u2_transformer_kind>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

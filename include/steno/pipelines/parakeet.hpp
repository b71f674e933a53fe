// steno/pipelines/parakeet.hpp - Parakeet in the pipelines: CTC, RNN-T and TDT.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/pipelines/compiled.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/streaming/parakeet_session.hpp>

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// The models' own default is greedy; hotwords bring a beam with them.
template <nemo::parakeet_ctc_sizes S>
struct family<nemo::parakeet_ctc<S>> : family_defaults<nemo::parakeet_ctc<S>> {
  static bool supports(const nemo::parakeet_ctc<S>& m, std::string_view option) {
    if (option == "look_ahead") return m.windows.size() > 1;
    return family_defaults<nemo::parakeet_ctc<S>>::supports(m, option);
  }
  static nemo::parakeet_ctc_options options(const nemo::parakeet_ctc<S>&, const transcribe_options& o,
                                            const steno::search::guides& guides, std::size_t) {
    return {.beam = o.beam, .hotwords = &guides.hotwords, .words = guides.lm(), .look_ahead = o.look_ahead};
  }
  static std::vector<segment> recognise_turns(const nemo::parakeet_ctc<S>& m, std::span<const float> pcm,
                                              const nemo::parakeet_ctc_options& o, context& c) {
    return m.recognise_turns(pcm, o, c);
  }
};
template <nemo::parakeet_transducer_sizes S>
struct family<nemo::parakeet_transducer<S>> : family_defaults<nemo::parakeet_transducer<S>> {
  static bool supports(const nemo::parakeet_transducer<S>& m, std::string_view option) {
    if (option == "look_ahead") return m.windows.size() > 1;
    return family_defaults<nemo::parakeet_transducer<S>>::supports(m, option);
  }
  static nemo::parakeet_transducer_options options(const nemo::parakeet_transducer<S>&, const transcribe_options& o,
                                                   const steno::search::guides& guides, std::size_t) {
    return {.beam = o.beam,
            .hotwords = &guides.hotwords,
            .words = guides.lm(),
            .language = o.language,
            .look_ahead = o.look_ahead};
  }
  static std::vector<segment> recognise_turns(const nemo::parakeet_transducer<S>& m, std::span<const float> pcm,
                                              const nemo::parakeet_transducer_options& o, context& c) {
    return m.recognise_turns(pcm, o, c);
  }
};

namespace detail {
using parakeet_family = family_of<nemo::parakeet_ctc_any, nemo::parakeet_transducer_any>;
}  // namespace detail

}  // namespace pipelines

#if defined(STENO_BUILD_PIPELINES)
template struct pipelines::detail::family_of<nemo::parakeet_ctc_any, nemo::parakeet_transducer_any>;
STENO_MODEL_FUNCTIONS(template, nemo::parakeet_ctc<nemo::parakeet_ctc_sizes{}>);
STENO_MODEL_FUNCTIONS(template, nemo::parakeet_transducer<nemo::parakeet_transducer_sizes{}>);
#elif defined(STENO_LINK_PIPELINES)
extern template struct pipelines::detail::family_of<nemo::parakeet_ctc_any, nemo::parakeet_transducer_any>;
STENO_MODEL_FUNCTIONS(extern template, nemo::parakeet_ctc<nemo::parakeet_ctc_sizes{}>);
STENO_MODEL_FUNCTIONS(extern template, nemo::parakeet_transducer<nemo::parakeet_transducer_sizes{}>);
#endif

}  // namespace STENO_ABI
}  // namespace steno

// steno/pipelines/paraformer.hpp - Paraformer in the pipelines, the offline and the online one.
//
// Tested in tests/pipelines/recogniser_test.cpp and transcriber_test.cpp.
#pragma once
#include <steno/models/paraformer.hpp>
#include <steno/pipelines/family.hpp>
#include <steno/pipelines/loaded_model.hpp>
#include <steno/streaming/paraformer_session.hpp>

namespace steno {
inline namespace STENO_ABI {

template <extent Feat, extent D, extent Heads, extent Ffn, extent Taps, extent Rest, extent DecoderHeads,
          extent DecoderFfn, extent DecoderTaps, extent DecoderLayers, extent Vocab, class Frontend>
struct family<
    paraformer<Feat, D, Heads, Ffn, Taps, Rest, DecoderHeads, DecoderFfn, DecoderTaps, DecoderLayers, Vocab, Frontend>>
    : family_defaults<paraformer<Feat, D, Heads, Ffn, Taps, Rest, DecoderHeads, DecoderFfn, DecoderTaps, DecoderLayers,
                                 Vocab, Frontend>> {};
template <extent Feat, extent D, extent Heads, extent Ffn, extent Taps, extent Rest, extent DecoderHeads,
          extent DecoderFfn, extent DecoderTaps, extent DecoderLayers, extent Vocab, class Frontend>
struct family<paraformer_online<Feat, D, Heads, Ffn, Taps, Rest, DecoderHeads, DecoderFfn, DecoderTaps, DecoderLayers,
                                Vocab, Frontend>>
    : family_defaults<paraformer_online<Feat, D, Heads, Ffn, Taps, Rest, DecoderHeads, DecoderFfn, DecoderTaps,
                                        DecoderLayers, Vocab, Frontend>> {};

namespace detail {
using paraformer_family = family_of<paraformer_any, paraformer_online_any>;
#if defined(STENO_BUILD_PIPELINES)
template struct family_of<paraformer_any, paraformer_online_any>;
#elif defined(STENO_LINK_PIPELINES)
extern template struct family_of<paraformer_any, paraformer_online_any>;
#endif
}  // namespace detail

}  // namespace STENO_ABI
}  // namespace steno

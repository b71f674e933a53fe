// steno/frontends/wav_frontend.hpp - FunASR's front end: filterbank -> low frame rate -> normalisation, as one type.
//
// [samples] -> [ceil(frames / n), m mels]. Follows WavFrontend and WavFrontendOnline (wav_frontend.py). Traced stages:
// "fbank", "lfr", "cmvn"; weights "cmvn.shift", "cmvn.scale". Tested in tests/frontends/wav_frontend_test.cpp.
//
//   wav_frontend<80, 7, 6> f;                              // SenseVoice, Paraformer
//   x.resize(f.rows(samples), f.width()); f(pcm, x, c);    // a whole clip
//   auto s = f.start();                                    // a stream
//   x.resize(f.ready(s, n), f.width()); f.accept(s, pcm, x, c); ... f.finish(s, rest, x, c);
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/frontends/cmvn.hpp>
#include <steno/frontends/fbank.hpp>
#include <steno/frontends/frontend.hpp>
#include <steno/frontends/lfr.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

template <extent Mels = 80, extent M = 7, extent N = 6>
using wav_frontend = frontend_chain<fbank<Mels>, lfr<Mels, M, N>, cmvn<core::times(M, Mels)>>;

/// Sizes known at run time only.
using wav_frontend_any = wav_frontend<dynamic, dynamic, dynamic>;

/// A front end with the given filterbank and stacking; throws steno::error when sizes do not fit.
template <extent Mels = dynamic, extent M = dynamic, extent N = dynamic>
wav_frontend<Mels, M, N> make_wav_frontend(const fbank_options& o, extent m, extent n) {
  const lfr<Mels, M, N> stack(o.mels, m, n);
  return {{fbank<Mels>(o), stack}, cmvn<core::times(M, Mels)>(stack.width())};
}

static_assert(frontend<wav_frontend<>> && frontend<wav_frontend_any>);

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno

// Runs a test with every FFT that the build knows: FFTW's and ours.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/fft.hpp>

namespace steno::test {

/// f.template operator()<Fft>() for each policy.
template <class F>
void each_fft(F&& f) {
  f.template operator()<kernels::real_fft_lanes>();
#if defined(STENO_FFT_FFTW)
  f.template operator()<kernels::real_fft_fftw>();
#endif
}

}  // namespace steno::test

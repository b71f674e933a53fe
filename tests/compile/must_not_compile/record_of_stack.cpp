// A layer reads names of its stack's record: without `encoded` there is no cross-attention.
// SPDX-License-Identifier: Apache-2.0
#include <steno/networks/sanm_decoder.hpp>

namespace record_of_stack {

using decoder = steno::nn::sanm_decoder<steno::nn::sanm_decoder_sizes{
    .width = 8, .heads = 2, .units = 16, .taps = 3, .layers = 2, .vocabulary = 11}>;

void f(const decoder& d, steno::view<const float, steno::dynamic, 8> x, steno::view<float, steno::dynamic, 11> y,
       steno::context& c) {
#ifdef STENO_MUST_NOT_COMPILE
  d(x, y, nullptr, steno::nn::no_env{}, c);
#else
  d(x, y, nullptr, steno::nn::sanm_decoder_env{}, c);
#endif
}

}  // namespace record_of_stack

// bench/support/model_work.hpp - the work of layers and models: products in the weights' format, the rest (attention)
// in floats.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>

#include "measure.hpp"

namespace steno_bench {

/// `audio` in seconds.
inline work layer_work(double products, double floats, steno::dtype format, double audio = 0, int threads = 1) {
  work w{.flops = floats, .audio = audio, .threads = threads};
  (steno::core::info(format).elements > 1 ? w.int8_ops : w.flops) += products;
  return w;
}

}  // namespace steno_bench

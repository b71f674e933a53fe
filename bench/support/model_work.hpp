// bench/support/model_work.hpp - the work of layers and models: products in the weights' format, the rest (attention)
// in floats.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/kernels/packed_layout.hpp>

#include "measure.hpp"

namespace steno_bench {

/// Adds the operations of products with weights of the format.
inline void add_products(work& w, steno::dtype format, double operations) {
  const steno::kernels::weight_family family = steno::kernels::family_of(format);
  (steno::kernels::is_int8(family)                           ? w.int8_ops
   : family == steno::kernels::weight_family::rounded_columns ? w.bfloat_flops
                                                             : w.flops) += operations;
}

/// `audio` in seconds.
inline work layer_work(double products, double floats, steno::dtype format, double audio = 0, int threads = 1) {
  work w{.flops = floats, .audio = audio, .threads = threads};
  add_products(w, format, products);
  return w;
}

}  // namespace steno_bench

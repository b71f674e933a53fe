// Whatever a product needs, optimised, for tests/kernels/machine_code_test.cpp to look at.
// SPDX-License-Identifier: Apache-2.0
#include <steno/kernels/product.hpp>

void product(const steno::view<const float>& x, const steno::weights::weight_ref& w, const steno::view<float>& y,
             steno::context& c) {
  steno::kernels::matmul(x, w, {}, y, c);
}

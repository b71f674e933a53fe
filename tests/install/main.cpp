// The smallest user: a product on two threads, and the version on stdout.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/product.hpp>

#include <cstdio>

int main() {
  const steno::matrix<float, 3, 4> values = steno::matrix<float, 3, 4>::Ones();
  steno::weights::weight<3, 4> w;
  if (!w.assign(values)) return 1;

  steno::thread_pool pool(2);
  steno::context context(pool);
  steno::matrix<float, 2, 4> x = steno::matrix<float, 2, 4>::Constant(0.5f);
  steno::matrix<float, 2, 3> y;
  steno::kernels::matmul(steno::core::read(x), w.ref(), {}, steno::core::write(y), context);
  if ((y.array() != 2.0f).any()) return 1;

  std::printf("steno %d.%d.%d\n", steno::version.major, steno::version.minor, steno::version.patch);
}

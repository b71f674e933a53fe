// A user of headers that compile in little time: numbers in a view, and the version on stdout.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/context.hpp>
#include <steno/core/thread_pool.hpp>

#include <cstdio>

int main() {
  steno::thread_pool pool(2);
  steno::context context(pool);
  steno::core::workspace::frame scratch(context.scratch);
  steno::view<float, steno::dynamic, 4> x = scratch.matrix<steno::dynamic, 4>(2, 4);
  x.setOnes();
  if (x.sum() != 8.0f) return 1;
  std::printf("steno %d.%d.%d\n", steno::version.major, steno::version.minor, steno::version.patch);
}

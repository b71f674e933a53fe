// An executor is made from anything with width() and run(n, task), and from nothing else.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/executor.hpp>

namespace no_executor {

struct not_an_executor {
#ifndef STENO_MUST_NOT_COMPILE
  int width() const { return 1; }
#endif
  void run(steno::extent n, steno::core::task t) {
    for (steno::extent i = 0; i < n; ++i) t(i, 0);
  }
};

int f(not_an_executor& e) {
  const steno::executor run(e);
  return run.width();
}

}  // namespace no_executor

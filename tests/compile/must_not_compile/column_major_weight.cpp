// A weight refers to row-major memory; Eigen's default order would silently be its transpose.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/weight.hpp>

namespace column_major_weight {

bool f(steno::weights::weight<4, 6>& w) {
#ifdef STENO_MUST_NOT_COMPILE
  const Eigen::MatrixXf m = Eigen::MatrixXf::Zero(4, 6);
#else
  const steno::matrix<float, steno::dynamic, steno::dynamic> m = Eigen::MatrixXf::Zero(4, 6);
#endif
  return w.assign(m);
}

}  // namespace column_major_weight

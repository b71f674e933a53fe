// Static widths are checked by Eigen when one view is assigned to another.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/view.hpp>

namespace widths_of_views {

#ifdef STENO_MUST_NOT_COMPILE
using source = steno::view<const float, steno::dynamic, 6>;
#else
using source = steno::view<const float, steno::dynamic, 4>;
#endif

void f(steno::view<float, steno::dynamic, 4> y, const source& x) { y = x; }

}  // namespace widths_of_views

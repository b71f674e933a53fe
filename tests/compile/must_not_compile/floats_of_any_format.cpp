// Only a weight that promises f32 can be looked at as floats; others may hold quantised blocks.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/weight.hpp>

namespace floats_of_any_format {

#ifdef STENO_MUST_NOT_COMPILE
using stored = steno::weights::weight<4, 6>;
#else
using stored = steno::weights::weight<4, 6, steno::dtype::f32>;
#endif

const float* f(const stored& w) { return w.floats(); }

}  // namespace floats_of_any_format

// A layer can follow itself only when it writes what it reads.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/linear.hpp>
#include <steno/layers/stack.hpp>

namespace repeat_widths {

#ifdef STENO_MUST_NOT_COMPILE
using body = steno::nn::repeat<3, steno::nn::linear<512, 256>>;
#else
using body = steno::nn::repeat<3, steno::nn::linear<512, 512>>;
#endif

steno::extent f() { return body::output; }

}  // namespace repeat_widths

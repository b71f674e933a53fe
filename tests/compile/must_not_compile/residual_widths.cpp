// What is added to its own input is as wide as that.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/feed_forward.hpp>

namespace residual_widths {

#ifdef STENO_MUST_NOT_COMPILE
using body = steno::nn::residual<steno::nn::linear<512, 256>>;
#else
using body = steno::nn::residual<steno::nn::linear<512, 256>, steno::nn::linear<256, 512>>;
#endif

steno::extent f() { return body::output; }

}  // namespace residual_widths

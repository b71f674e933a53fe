// Two layers of different widths cannot be joined; the message names both.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/stack.hpp>

namespace join_widths {

#ifdef STENO_MUST_NOT_COMPILE
using body = steno::nn::sequence<steno::nn::layer_norm<560>, steno::nn::at<"norm2", steno::nn::layer_norm<512>>>;
#else
using body = steno::nn::sequence<steno::nn::layer_norm<512>, steno::nn::at<"norm2", steno::nn::layer_norm<512>>>;
#endif

bool f() { return sizeof(body) == 0; }

}  // namespace join_widths

// Heads share the width of an attention layer evenly.
// SPDX-License-Identifier: Apache-2.0
#include <steno/layers/sanm_attention.hpp>

namespace heads_of_attention {

#ifdef STENO_MUST_NOT_COMPILE
using attention = steno::nn::sanm_attention<560, 512, 3, 11>;
#else
using attention = steno::nn::sanm_attention<560, 512, 4, 11>;
#endif

steno::extent f() { return attention::output; }

}  // namespace heads_of_attention

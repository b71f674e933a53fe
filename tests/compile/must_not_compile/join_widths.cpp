// Two layers of different widths cannot be joined; the message names both.
#include <steno/layers/layer_norm.hpp>
#include <steno/layers/stack.hpp>

#ifdef STENO_MUST_NOT_COMPILE
using body = steno::sequence<steno::layer_norm<560>, steno::at<"norm2", steno::layer_norm<512>>>;
#else
using body = steno::sequence<steno::layer_norm<512>, steno::at<"norm2", steno::layer_norm<512>>>;
#endif

int main() { return sizeof(body) == 0; }

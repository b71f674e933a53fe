// Which model to use when none is named.
#pragma once
#include <string>

namespace steno::app {

/// `named` unless it is empty; else the demo model: $STENO_DEMO_MODEL, ../share/steno/models/demo.gguf beside the
/// program, or the one in the source tree it was built from. Throws steno::error when there is none.
std::string find_model(const std::string& named);

}  // namespace steno::app

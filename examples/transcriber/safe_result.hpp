// Results without what could steer a terminal or break a line: every text of them goes through result_text().
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

namespace steno::app {

/// Texts hold no control characters (C0, DEL, C1) but newline and tab, and are UTF-8.
segment safe(segment s);
result safe(result r);

}  // namespace steno::app

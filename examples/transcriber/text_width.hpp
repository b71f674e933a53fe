// How wide UTF-8 text is on a screen, and where its lines may break: what subtitles need.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

/// Columns that `text` takes: East Asian characters 2, combining marks 0, all others 1.
int columns(std::string_view text);

/// The text on one line: control characters are shown as '?', so that nothing in it can steer a terminal.
std::string printable(std::string_view text);

/// True when the character that begins (ends) `text` is East Asian, so that no space stands beside it.
bool begins_wide(std::string_view text);
bool ends_wide(std::string_view text);

/// Lines of at most `width` columns, broken at spaces and between East Asian characters, never before closing
/// punctuation. A longer unbreakable piece stands alone. White space is folded.
std::vector<std::string> wrap(std::string_view text, int width);

}  // namespace steno::app

// How wide UTF-8 text is on a screen, and where its lines may break: what subtitles need.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

/// Columns that `text` takes: East Asian characters 2, combining marks 0, all others 1.
int columns(std::string_view text);

/// For messages, on one line: control characters (C0, DEL and C1) and malformed bytes are shown as '?', so that nothing
/// in a file or its name can steer a terminal.
std::string printable(std::string_view text);

/// For results: the same without the control characters but newline and tab; malformed bytes become U+FFFD.
std::string result_text(std::string_view text);
/// The same as one line: newlines and tabs become spaces, outer spaces go.
std::string one_line(std::string_view text);

/// Whole characters from the front (the back) of a line, as many as fit into `most` columns.
std::string first_columns(std::string_view text, int most);
std::string last_columns(std::string_view text, int most);

/// Where the cursor of a terminal of `width` columns is behind a text without line breaks that begins in column
/// `from`: 0 to `width`, which it is when the line is full. Colours (ESC [ ... m) take no columns.
int column_after(std::string_view text, int from, int width);

/// True when the character that begins (ends) `text` is East Asian, so that no space stands beside it.
bool begins_wide(std::string_view text);
bool ends_wide(std::string_view text);

/// Lines of at most `width` columns, broken at spaces and between East Asian characters, never before closing
/// punctuation. A longer unbreakable piece stands alone. White space is folded.
std::vector<std::string> wrap(std::string_view text, int width);

}  // namespace steno::app

// A result as JSON: one object for a file, or one line for each segment.
#pragma once
#include <steno/pipelines/result.hpp>

#include <string>
#include <string_view>

namespace steno::app {

/// {"model", "audio", "duration", "language", "text", "segments": [...], "extra": {...}} on one line, without a
/// newline. Bytes that are not UTF-8 become U+FFFD.
std::string json_object(std::string_view audio, const result& r);

/// {"audio", "language", "start", "end", "text", "token_ids", "speaker", "words", "extra"} and a newline; `language` is
/// the recording's, for a segment that names none.
std::string json_line(std::string_view audio, std::string_view language, const segment& s);

}  // namespace steno::app

// The names of output formats, and whose habits they follow.
#pragma once
#include <optional>
#include <string_view>

namespace steno::app {

enum class format { text, json, jsonl, srt, vtt, tsv, rttm, ctm, stm };

inline constexpr std::string_view format_names[] = {"text", "json", "jsonl", "srt", "vtt", "tsv", "rttm", "ctm", "stm"};
/// One of NIST's, whose lines say which recording they are of.
constexpr bool is_nist(format f) { return f == format::rttm || f == format::ctm || f == format::stm; }
/// Also "txt".
std::optional<format> find_format(std::string_view name);
/// ".txt", ".json", ...
std::string_view extension(format f);

/// usual: that of the model (openai's for Whisper), but JSON is always steno's.
enum class style { usual, steno, openai };

}  // namespace steno::app

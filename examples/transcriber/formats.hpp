// The names of output formats, and whose habits they follow.
#pragma once
#include <optional>
#include <string_view>

namespace steno::app {

enum class format { text, json, jsonl, srt, vtt, tsv };

inline constexpr std::string_view format_names[] = {"text", "json", "jsonl", "srt", "vtt", "tsv"};
/// Also "txt".
std::optional<format> find_format(std::string_view name);
/// ".txt", ".json", ...
std::string_view extension(format f);

/// usual: that of the model (openai's for Whisper), but JSON is always steno's.
enum class style { usual, steno, openai };

}  // namespace steno::app

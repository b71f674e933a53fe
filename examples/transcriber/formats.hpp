// The names of output formats, and whose habits they follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

enum class format { text, json, jsonl, srt, vtt, ass, lrc, tsv, csv, md, rttm, ctm, stm };

struct format_facts {
  format id;
  std::string_view name, extension;
  /// Nothing in it says which recording a line is of, so an output holds one.
  bool one_recording = false;
  /// The original has it, too: openai's style is another one than steno's.
  bool of_openai = false;
};

/// In the order of `format`.
inline constexpr format_facts format_table[] = {
    {format::text, "text", ".txt", false, true},
    {format::json, "json", ".json", false, true},
    {format::jsonl, "jsonl", ".jsonl"},
    {format::srt, "srt", ".srt", true, true},
    {format::vtt, "vtt", ".vtt", true, true},
    {format::ass, "ass", ".ass", true},
    {format::lrc, "lrc", ".lrc", true},
    {format::tsv, "tsv", ".tsv", true, true},
    {format::csv, "csv", ".csv"},
    {format::md, "md", ".md"},
    {format::rttm, "rttm", ".rttm"},
    {format::ctm, "ctm", ".ctm"},
    {format::stm, "stm", ".stm"},
};
constexpr const format_facts& facts(format f) { return format_table[static_cast<std::size_t>(f)]; }

/// Also "txt" and "markdown".
std::optional<format> find_format(std::string_view name);
/// "srt,json": each once, in their order; "all" is what openai-whisper writes. Throws `stop` for a name that there is
/// not.
std::vector<format> find_formats(std::string_view names);
/// "text, json, ... and stm".
std::string names_of_formats();
constexpr std::string_view extension(format f) { return facts(f).extension; }
inline bool has_format(const std::vector<format>& all, format f) {
  return std::find(all.begin(), all.end(), f) != all.end();
}

/// usual: that of the model (openai's for Whisper), but JSON is always steno's.
enum class style { usual, steno, openai };
/// "usual", "steno" or "openai".
std::optional<style> find_style(std::string_view name);

/// What stands on a line of text. usual: paragraphs, or recordings where several go to one output; segments with times.
enum class text_rows { usual, recording, paragraph, segment };
/// "usual", "recording", ...
std::optional<text_rows> find_rows(std::string_view name);

}  // namespace steno::app

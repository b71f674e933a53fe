// The line formats of NIST's scoring tools, with speakers.
//
//   rttm  SPEAKER file channel start duration <NA> <NA> speaker <NA> <NA>  each segment that somebody speaks
//   ctm   file channel start duration word confidence [lex speaker]      each word; NA where nothing computed it
//   stm   file channel speaker start end text                            each segment with a text
// The channel is 1 unless the segment is of another one. Fields are parted by spaces, so spaces in names become '_'.
// Formats of the Rich Transcription evaluation plans and of SCTK (sclite). Tested in
// tests/transcriber/nist_writer_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>

#include <string>
#include <string_view>

namespace steno::app {

/// A name as one field.
std::string nist_field(std::string_view name);
/// "12.340" of seconds.
std::string nist_seconds(double seconds);

/// Nothing for a segment of nobody or without a duration.
std::string rttm_line(std::string_view file, const segment& s, int channel = 1);
/// A line for each word; a comment (;;) that holds the text where words have no times. `speakers`: with their columns.
std::string ctm_lines(std::string_view file, const segment& s, bool speakers, int channel = 1);
/// Nothing for a segment without text.
std::string stm_line(std::string_view file, const segment& s, int channel = 1);

}  // namespace steno::app

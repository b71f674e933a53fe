// What every output format does: pieces of text for the segments of recordings, one recording after the other.
//
// writers.hpp decides when they are asked. A format is a class in a file of its kind: text_writer, subtitle_writer,
// table_writer, json_result, nist_writer, openai_writer.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/result.hpp>

#include <memory>
#include <optional>
#include <string>

#include "formats.hpp"
#include "openai_writer.hpp"

namespace steno::app {

/// How a format is written.
struct layout {
  steno::app::style style = style::usual;  ///< usual: steno's; the model is not known here
  line_options lines = {};                 ///< of subtitles
  bool words = false;                      ///< word times were asked for
  bool speakers = false;                   ///< speakers were asked for
  text_rows rows = text_rows::usual;       ///< of text
  bool timestamps = false;                 ///< of text: times before each line
  bool colours = false;                    ///< of text: words by their confidence, for a terminal
};

/// A recording among those of an output.
struct recording_place {
  std::string audio;     ///< its path
  std::string name;      ///< without folder and extension
  bool first = true;     ///< nothing stands before it
  bool several = false;  ///< others go to the same output
};

/// One output. Functions return what is to be appended now; segments are safe to print (safe_result.hpp).
class format_writer {
 public:
  virtual ~format_writer() = default;
  /// A recording's first text, whatever it is, comes next.
  virtual std::string begin(const recording_place&) { return {}; }
  /// `channel`: which one of the recording it is of, from 1; nothing: all.
  virtual std::string add(const segment& s, std::optional<int> channel) = 0;
  /// `head` is the recording's result without text and segments.
  virtual std::string end(const result& head) = 0;
};

std::unique_ptr<format_writer> make_format_writer(format f, const layout& l);

std::unique_ptr<format_writer> make_text_writer(format f, const layout& l);
std::unique_ptr<format_writer> make_subtitle_writer(format f, const layout& l);
std::unique_ptr<format_writer> make_table_writer(format f, const layout& l);
std::unique_ptr<format_writer> make_json_writer(format f, const layout& l);
std::unique_ptr<format_writer> make_nist_writer(format f, const layout& l);
/// Of the formats that the original has.
std::unique_ptr<format_writer> make_openai_writer(format f, const layout& l);

/// What a table begins with.
std::string tsv_header(bool speakers);
/// What a WebVTT file begins with, or a recording in it.
std::string vtt_opening(const recording_place& at);

}  // namespace steno::app

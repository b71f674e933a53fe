// Segments as rows of a table: tsv as openai-whisper writes it, csv as whisper.cpp does.
// SPDX-License-Identifier: Apache-2.0
#include "format_writer.hpp"
#include "replaced.hpp"
#include "text_width.hpp"
#include "writers.hpp"

namespace steno::app {
namespace {

std::string times(const segment& s, char separator) {
  return std::to_string(milliseconds(s.start)) + separator + std::to_string(milliseconds(s.end)) + separator;
}

class tsv_writer final : public format_writer {
 public:
  explicit tsv_writer(bool speakers) : speakers_(speakers) {}
  std::string begin(const recording_place& at) override { return at.first ? tsv_header(speakers_) : ""; }
  std::string add(const segment& s, std::optional<int>) override {
    const std::string text = one_line(s.text);
    if (text.empty()) return "";
    return times(s, '\t') + (speakers_ ? one_line(s.speaker.value_or("")) + "\t" : "") + text + "\n";
  }
  std::string end(const result&) override { return {}; }

 private:
  bool speakers_;
};

std::string quoted(const std::string& text) { return '"' + replaced(text, "\"", "\"\"") + '"'; }

class csv_writer final : public format_writer {
 public:
  explicit csv_writer(bool speakers) : speakers_(speakers) {}
  std::string begin(const recording_place& at) override {
    audio_ = at.several ? quoted(one_line(at.audio)) + "," : "";
    if (!at.first) return "";
    return std::string(at.several ? "audio," : "") + "start,end," + (speakers_ ? "speaker," : "") + "text\n";
  }
  std::string add(const segment& s, std::optional<int>) override {
    const std::string text = one_line(s.text);
    if (text.empty()) return "";
    const std::string who = speakers_ ? quoted(one_line(s.speaker.value_or(""))) + "," : "";
    return audio_ + times(s, ',') + who + quoted(text) + "\n";
  }
  std::string end(const result&) override { return {}; }

 private:
  bool speakers_;
  std::string audio_;
};

}  // namespace

std::string tsv_header(bool speakers) { return speakers ? "start\tend\tspeaker\ttext\n" : "start\tend\ttext\n"; }

std::unique_ptr<format_writer> make_table_writer(format f, const layout& l) {
  if (f == format::csv) return std::make_unique<csv_writer>(l.speakers);
  return std::make_unique<tsv_writer>(l.speakers);
}

}  // namespace steno::app

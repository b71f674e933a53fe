// Subtitles: cues as in cues.hpp, written as SubRip, WebVTT, Advanced SubStation Alpha or lyrics.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <utility>

#include "cues.hpp"
#include "digits.hpp"
#include "format_writer.hpp"
#include "replaced.hpp"
#include "text_width.hpp"
#include "writers.hpp"

namespace steno::app {
namespace {

std::string vtt_escaped(std::string text) {
  return replaced(replaced(replaced(std::move(text), "&", "&amp;"), "<", "&lt;"), ">", "&gt;");
}

long long hundredths(double seconds) { return (milliseconds(seconds) + 5) / 10; }

// Cues of a recording as they become known; a format says how one is written.
class subtitles : public format_writer {
 public:
  subtitles(const layout& l, bool named, int lines) : layout_(l), named_(named) {
    limits_.lines = lines;
    if (l.lines.max_line_width > 0) limits_.columns = l.lines.max_line_width;
    if (l.lines.max_line_count > 0) limits_.lines = l.lines.max_line_count;
  }
  std::string begin(const recording_place& at) override {
    times_ = {};
    return opening(at);
  }
  std::string add(const segment& s, std::optional<int>) override {
    std::string out;
    for (cue& c : split_cues(s, limits_, layout_.speakers && named_)) out += written(times_.next(std::move(c)));
    return out;
  }
  std::string end(const result& head) override {
    std::string out = written(times_.last(head.duration));
    return out += closing();
  }

 protected:
  virtual std::string opening(const recording_place&) { return {}; }
  virtual std::string one(const cue& c) = 0;
  virtual std::string closing() { return {}; }
  bool speakers() const { return layout_.speakers; }

 private:
  std::string written(const std::optional<cue>& c) { return c ? one(*c) : ""; }

  layout layout_;
  bool named_;  // a cue's text begins with who says it
  cue_limits limits_;
  cue_times times_;
};

class srt_writer final : public subtitles {
 public:
  explicit srt_writer(const layout& l) : subtitles(l, true, 2) {}

 private:
  std::string one(const cue& c) override {
    std::string out = std::to_string(next_++) + "\n";
    out.append(clock_text(c.start, ',')).append(" --> ").append(clock_text(c.end, ',')).append("\n");
    for (const std::string& line : c.lines) out.append(replaced(line, "-->", "->")).append("\n");  // no time line
    return out + "\n";
  }
  int next_ = 1;
};

class vtt_writer final : public subtitles {
 public:
  explicit vtt_writer(const layout& l) : subtitles(l, false, 2) {}

 private:
  std::string opening(const recording_place& at) override { return vtt_opening(at); }
  std::string one(const cue& c) override {
    std::string out = clock_text(c.start, '.') + " --> " + clock_text(c.end, '.') + "\n";
    if (speakers() && !c.speaker.empty()) out.append("<v ").append(vtt_escaped(c.speaker)).append(">");
    for (const std::string& line : c.lines) out.append(vtt_escaped(line)).append("\n");
    return out + "\n";
  }
};

// Version 4.00+, as Aegisub and libass read it. Times are in hundredths of a second.
class ass_writer final : public subtitles {
 public:
  explicit ass_writer(const layout& l) : subtitles(l, false, 2) {}

 private:
  std::string opening(const recording_place& at) override {
    return "[Script Info]\nTitle: " + one_line(at.name) +
           "\nScriptType: v4.00+\nWrapStyle: 0\nScaledBorderAndShadow: yes\nPlayResX: 1280\nPlayResY: 720\n\n"
           "[V4+ Styles]\n"
           "Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, "
           "Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, "
           "MarginR, MarginV, Encoding\n"
           "Style: Default,Sans,48,&H00FFFFFF,&H0000D7FF,&H00000000,&H80000000,0,0,0,0,100,100,0,0,1,2,1,2,60,60,40,1\n"
           "\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n";
  }
  static std::string clock(double seconds) {
    const long long t = hundredths(seconds);
    return std::to_string(t / 360000) + ":" + padded(t / 6000 % 60, 2) + ":" + padded(t / 100 % 60, 2) + "." +
           padded(t % 100, 2);
  }
  // Braces hold commands and a backslash begins one; neither can be written otherwise.
  static std::string plain(std::string text) {
    text = replaced(replaced(std::move(text), "{", "("), "}", ")");
    return replaced(std::move(text), "\\", "\\\xe2\x81\xa0");
  }
  std::string one(const cue& c) override {
    std::string text;
    if (c.words.empty()) {
      for (const std::string& line : c.lines) text.append(text.empty() ? "" : "\\N").append(plain(line));
    } else {
      long long at = hundredths(c.start);
      for (const cue_word& w : c.words) {
        const long long from = std::max(at, hundredths(w.start)), to = std::max(from, hundredths(w.end));
        if (from > at) text.append("{\\k").append(std::to_string(from - at)).append("}");
        std::string piece = one_line(w.text);
        if (!text.empty() && w.text.starts_with(' ')) piece.insert(0, 1, ' ');
        text.append("{\\k").append(std::to_string(to - from)).append("}").append(plain(std::move(piece)));
        at = to;
      }
    }
    const std::string who = speakers() ? replaced(one_line(c.speaker), ",", ";") : "";
    return "Dialogue: 0," + clock(c.start) + "," + clock(c.end) + ",Default," + who + ",0,0,0,," + text + "\n";
  }
};

// "[01:02.50]text"; a time without a text where nothing is said for a while.
class lrc_writer final : public subtitles {
 public:
  explicit lrc_writer(const layout& l) : subtitles(l, true, 1) {}

 private:
  static std::string clock(double seconds) {
    const long long t = hundredths(seconds);
    return "[" + padded(t / 6000, 2) + ":" + padded(t / 100 % 60, 2) + "." + padded(t % 100, 2) + "]";
  }
  std::string opening(const recording_place&) override {
    end_.reset();
    return {};
  }
  std::string one(const cue& c) override {
    std::string out = end_ && hundredths(c.start) > hundredths(*end_) ? clock(*end_) + "\n" : "";
    end_ = c.end;
    std::string text;
    for (const std::string& line : c.lines) text.append(text.empty() ? "" : " ").append(line);
    return out.append(clock(c.start)).append(text).append("\n");
  }
  std::string closing() override { return end_ ? clock(*end_) + "\n" : ""; }

  std::optional<double> end_;  // of the cue before
};

}  // namespace

std::string vtt_opening(const recording_place& at) {
  std::string out = at.first ? "WEBVTT\n\n" : "";
  return at.several ? out + "NOTE " + replaced(one_line(at.audio), "-->", "->") + "\n\n" : out;
}

std::unique_ptr<format_writer> make_subtitle_writer(format f, const layout& l) {
  if (f == format::srt) return std::make_unique<srt_writer>(l);
  if (f == format::vtt) return std::make_unique<vtt_writer>(l);
  if (f == format::ass) return std::make_unique<ass_writer>(l);
  return std::make_unique<lrc_writer>(l);
}

}  // namespace steno::app

// Text for reading: lines that grow with what is heard, and Markdown.
//
// A line is a recording, a paragraph or a segment; with speakers it ends where the speaker changes, too. A paragraph
// ends at a pause of 2 s, which words tell where they have times, or with the segment that makes it longer than 600
// columns.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <span>

#include "cues.hpp"
#include "format_writer.hpp"
#include "replaced.hpp"
#include "text_width.hpp"
#include "writers.hpp"

namespace steno::app {
namespace {

constexpr double pause = 2.0;  // seconds that end a paragraph
constexpr int long_paragraph = 600;

// Part of a segment without a long pause in it.
struct passage {
  double start = 0, end = 0;
  std::optional<std::string> speaker = {};
  std::string text = {};
  std::span<const word> words = {};  // of it, and how the text has them
  std::vector<std::string> pieces = {};
};

std::vector<passage> passages_of(const segment& s, bool cut) {
  std::vector<passage> all = {{s.start, s.end, s.speaker, one_line(s.text), s.words, words_as_written(s)}};
  if (!words_have_times(s)) return all;
  all[0].start = s.words.front().start;
  all[0].end = std::max(all[0].start, s.words.back().end);
  if (!cut) return all;
  const std::vector<std::string> pieces = all[0].pieces;
  std::vector<std::size_t> begins = {0};
  for (std::size_t i = 1; i < s.words.size(); ++i)
    if (s.words[i].start - s.words[i - 1].end >= pause) begins.push_back(i);
  if (begins.size() == 1) return all;
  all.clear();
  for (std::size_t b = 0; b < begins.size(); ++b) {
    const std::size_t from = begins[b], to = b + 1 < begins.size() ? begins[b + 1] : pieces.size();
    passage p{.start = s.words[from].start, .end = s.words[to - 1].end, .speaker = s.speaker};
    for (std::size_t i = from; i < to; ++i) {
      p.text += pieces[i];
      p.pieces.push_back(pieces[i]);
    }
    p.text = one_line(p.text);
    p.words = std::span(s.words).subspan(from, to - from);
    all.push_back(std::move(p));
  }
  return all;
}

// Where lines begin.
class line_rule {
 public:
  explicit line_rule(text_rows rows, bool speakers) : rows_(rows), speakers_(speakers) {}

  bool begins(const passage& p) {
    const bool first = !open_;
    const bool turn = speakers_ && p.speaker != speaker_;
    const bool apart = rows_ == text_rows::segment ||
                       (rows_ == text_rows::paragraph && (p.start - end_ >= pause || length_ > long_paragraph));
    if (first || turn || apart) length_ = 0;
    length_ += columns(p.text);
    open_ = true;
    speaker_ = p.speaker;
    end_ = p.end;
    return first || turn || apart;
  }

 private:
  text_rows rows_;
  bool speakers_, open_ = false;
  std::optional<std::string> speaker_;
  double end_ = 0;
  int length_ = 0;
};

// Red for what the model was not sure of, over yellow, to green.
std::string coloured(const passage& p) {
  constexpr int scale[] = {196, 202, 208, 214, 220, 226, 190, 154, 118, 82, 46};
  if (p.pieces.size() != p.words.size() || p.words.empty()) return p.text;
  std::string all;
  for (std::size_t i = 0; i < p.words.size(); ++i) {
    const word& w = p.words[i];
    std::string piece = replaced(p.pieces[i], "\n", " ");
    const std::size_t front = all.empty() ? piece.find_first_not_of(' ') : 0;
    piece.erase(0, std::min(front, piece.size()));
    const auto c = static_cast<double>(w.confidence);
    if (w.how == timing::aligned || !std::isfinite(c)) {
      all += piece;
      continue;
    }
    const auto step = static_cast<std::size_t>(std::clamp(c * c * c * 10.0, 0.0, 10.0));
    all.append("\x1b[38;5;").append(std::to_string(scale[step])).append("m").append(piece).append("\x1b[0m");
  }
  return all;
}

// Text that grows by passages, each on a line that is there or on a new one.
class running_text : public format_writer {
 public:
  explicit running_text(const layout& l) : layout_(l) {}

  std::string begin(const recording_place& at) override {
    rows_ = rows(at);
    rule_ = line_rule(rows_, layout_.speakers);
    last_.clear();
    any_ = false;
    return opening(at);
  }
  std::string add(const segment& s, std::optional<int>) override {
    std::string out;
    for (const passage& p : passages_of(s, rows_ == text_rows::paragraph)) {
      if (p.text.empty()) continue;
      const bool begins = rule_.begins(p);
      if (begins) {
        out.append(line_break(any_)).append(front(p));
        last_.clear();
      }
      std::string joined = last_;
      pipelines::append_text(joined, p.text);
      out.append(joined, last_.size(), joined.size() - last_.size() - p.text.size());  // the space between
      out += body(p, begins);
      last_ = p.text;
      any_ = true;
    }
    return out;
  }

 protected:
  virtual std::string opening(const recording_place& at) const = 0;
  virtual std::string line_break(bool any) const = 0;
  virtual std::string front(const passage& p) const = 0;
  virtual std::string body(const passage& p, bool begins) const = 0;
  virtual text_rows rows(const recording_place& at) const {
    if (layout_.rows != text_rows::usual) return layout_.rows;
    if (layout_.timestamps) return text_rows::segment;
    return at.several ? text_rows::recording : text_rows::paragraph;
  }
  bool named(const passage& p) const { return layout_.speakers && p.speaker; }

  layout layout_;
  text_rows rows_ = text_rows::paragraph;
  bool any_ = false;

 private:
  line_rule rule_ = line_rule(text_rows::paragraph, false);
  std::string last_;  // text that the next one is joined to
};

class lines_of_text final : public running_text {
 public:
  using running_text::running_text;
  std::string end(const result&) override { return "\n"; }

 private:
  std::string opening(const recording_place& at) const override {
    return layout_.speakers && at.several && !at.first ? "\n" : "";
  }
  std::string line_break(bool any) const override { return any ? "\n" : ""; }
  // "[00:00:00.250 --> 00:00:02.000] Speaker 1: "; the end of a line that grows is not known.
  std::string front(const passage& p) const override {
    std::string out;
    if (layout_.timestamps) {
      out.append("[").append(clock_text(p.start, '.'));
      if (rows_ == text_rows::segment) out.append(" --> ").append(clock_text(p.end, '.'));
      out += "] ";
    }
    return named(p) ? out + one_line(*p.speaker) + ": " : out;
  }
  std::string body(const passage& p, bool) const override { return layout_.colours ? coloured(p) : p.text; }
};

// Characters that Markdown would read as marks.
std::string escaped(const std::string& text) {
  std::string all;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>#|~").find(c) != std::string_view::npos) all += '\\';
    all += c;
  }
  return all;
}
// What would begin a list, or underline a heading, too.
std::string escaped_line(const std::string& text) {
  const std::string all = escaped(text);
  if (!all.empty() && std::string_view("-+=").find(all[0]) != std::string_view::npos) return '\\' + all;
  const std::size_t digits = all.find_first_not_of("0123456789");
  const bool number = digits != 0 && digits != std::string::npos && (all[digits] == '.' || all[digits] == ')');
  return number ? all.substr(0, digits) + '\\' + all.substr(digits) : all;
}

class markdown_writer final : public running_text {
 public:
  using running_text::running_text;
  std::string end(const result&) override { return any_ ? "\n" : ""; }

 private:
  std::string opening(const recording_place& at) const override {
    return (at.first ? "# " : "\n# ") + escaped(one_line(at.name)) + "\n";
  }
  std::string line_break(bool any) const override { return any ? "\n\n" : "\n"; }
  std::string front(const passage& p) const override {
    std::string out;
    if (named(p)) out.append("**").append(escaped(one_line(*p.speaker))).append("**");
    if (layout_.timestamps) out.append(out.empty() ? "`" : " `").append(clock_text(p.start, '.')).append("`");
    return out.empty() ? out : out + ": ";
  }
  std::string body(const passage& p, bool begins) const override {
    return begins && !named(p) && !layout_.timestamps ? escaped_line(p.text) : escaped(p.text);
  }
  // A heading parts recordings.
  text_rows rows(const recording_place& at) const override {
    const text_rows r = running_text::rows(at);
    return layout_.rows == text_rows::usual && r == text_rows::recording ? text_rows::paragraph : r;
  }
};

}  // namespace

std::unique_ptr<format_writer> make_text_writer(format f, const layout& l) {
  if (f == format::md) return std::make_unique<markdown_writer>(l);
  return std::make_unique<lines_of_text>(l);
}

}  // namespace steno::app

// steno/pipelines/speaker_attribution.hpp - who spoke which word: texts with times and a diarizer's findings, joined.
//
//   pipelines::speaker_attribution who(4, 0.08);     // columns of a diarizer's rows, and what a row lasts
//   who.push(rows);  who.add(segment);  who.take([](segment s) { ... });    // in any order, as they come
//   who.finish();  who.take(...);                     // segments by turns, in their order
//
// The rule, for a word of any family with times:
//   - A speaker's turn is where his probability is above `onset`, until it falls below `offset`.
//   - A word is his whose turns hold the largest share of it: probability times duration, over the word.
//   - Equal shares: his who spoke the word before, else whose turns began first.
//   - A word without duration is looked up in the row that holds its time.
//   - A word in nobody's turn is his whose turn is nearest, up to `reach` seconds away; else nobody's.
//   - A word without times is its segment's, which is looked up in the same way, from its start to its end.
// Segments are cut between words of different speakers; the pieces of text, joined by append_text(), are the text.
// Times are whole milliseconds here, so sums are exact: neither the portions of rows nor when segments came make a
// difference. Nothing of the kind is in the originals, which give out two results. Tested in
// tests/pipelines/speaker_attribution_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/result.hpp>
#include <steno/core/sink_ref.hpp>
#include <steno/core/view.hpp>
#include <steno/error.hpp>
#include <steno/pipelines/result.hpp>
#include <steno/text/words_in_text.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {

/// How words get their speakers.
struct speaker_attribution_options {
  double onset = 0.5;                   ///< a turn begins above this probability
  double offset = 0.5;                  ///< and ends below this one, which is not larger
  double reach = 0.25;                  ///< seconds from a word in nobody's turn to the turn that it belongs to
  std::vector<std::string> names = {};  ///< of speakers as they appear; those that follow are "Speaker N"
  /// Segments are cut where the speaker changes. Else the speaker of a segment is whose turns hold its largest part,
  /// from its first word to the end of its last one.
  bool split = true;
};

/// One recording. Memory does not grow with its length when forget() is called. One thread at a time.
class speaker_attribution {
 public:
  /// `speakers` columns; a row lasts `frame_seconds`. Throws steno::error for options that make no sense.
  speaker_attribution(extent speakers, double frame_seconds, const speaker_attribution_options& o = {})
      : options_(o), frame_ms_(frame_seconds * 1000), columns_(static_cast<std::size_t>(speakers)) {
    if (!(o.onset >= 0 && o.onset <= 1 && o.offset >= 0 && o.offset <= o.onset))
      fail({.what = "onset and offset of speakers' turns", .expected = "0 <= offset <= onset <= 1"});
    if (!(o.reach >= 0 && o.reach <= 60)) fail({.what = "reach of speakers' turns", .expected = "0 to 60 seconds"});
  }

  /// More rows: probabilities [rows, speakers].
  void push(const view<const float>& rows) {
    for (extent r = 0; r < rows.rows(); ++r, ++rows_) {
      const std::int64_t start = row_ms(rows_), end = row_ms(rows_ + 1);
      for (std::size_t s = 0; s < columns_.size(); ++s) {
        const double p = static_cast<double>(rows.data()[r * rows.outerStride() + static_cast<extent>(s)]);
        column& one = columns_[s];
        one.speaks = one.speaks ? p >= options_.offset : p > options_.onset;
        if (one.speaks) one.add({start, end, p});
      }
    }
    known_ = std::max(known_, row_ms(rows_));
  }
  /// Instead of rows: a turn of a speaker, in seconds. Those of one speaker come in order.
  void turn(double start, double end, extent speaker) {
    columns_.at(static_cast<std::size_t>(speaker)).add({ms(start), ms(end), 1});
  }
  /// No turn that is still to come begins before so many seconds.
  void known(double seconds) { known_ = std::max(known_, ms(seconds)); }
  /// No rows and no turns follow.
  void finish() noexcept { finished_ = true; }

  /// A segment of the recogniser, in order of their starts.
  STENO_ON_CALL void add(segment s) { waiting_.push_back(std::move(s)); }
  /// No segment that is still to be added begins before so many seconds.
  void forget(double seconds) {
    std::int64_t from = ms(seconds);
    for (const segment& s : waiting_) from = std::min(from, ms(s.start));
    for (column& c : columns_)
      while (!c.turns.empty() && c.turns.front().end < from - reach_ms()) c.turns.pop_front();
  }
  /// Hands over what is settled, in order: segments, cut where the speaker changes.
  STENO_ON_CALL void take(core::sink_ref<segment> sink) {
    while (take_one(sink)) continue;
  }
  /// The same of the next segment that was added alone; false while it is not settled.
  STENO_ON_CALL bool take_one(core::sink_ref<segment> sink) {
    if (waiting_.empty() || !attribute(waiting_.front())) return false;
    segment s = std::move(waiting_.front());
    waiting_.pop_front();
    hand_over(std::move(s), sink);
    return true;
  }
  /// Segments that wait for rows.
  std::size_t waiting() const noexcept { return waiting_.size(); }

 private:
  struct piece {
    std::int64_t start = 0, end = 0;  // milliseconds
    double p = 0;
  };
  struct column {
    std::deque<piece> turns;   // in order, without overlaps
    std::int64_t first = -1;   // where the first one began
    std::int64_t covered = 0;  // nothing is added before this
    bool speaks = false;

    void add(piece t) {
      t.start = std::max(t.start, covered);
      if (t.end <= t.start) return;
      covered = t.end;
      if (first < 0) first = t.start;
      turns.push_back(t);
    }
  };
  struct finding {
    bool settled = false;
    int who = -1;
  };

  static std::int64_t ms(double seconds) {
    constexpr double limit = 1e12;  // milliseconds
    const double x = seconds * 1000;
    return x > 0 ? std::llround(std::min(x, limit)) : 0;
  }
  std::int64_t row_ms(extent r) const { return std::llround(static_cast<double>(r) * frame_ms_); }
  std::int64_t reach_ms() const { return std::llround(options_.reach * 1000); }

  // His share of [a, b), or of the row that holds a; and how far his nearest turn is where he has none.
  void measure(const column& c, std::int64_t a, std::int64_t b, double& share, std::int64_t& distance) const {
    auto at = std::partition_point(c.turns.begin(), c.turns.end(), [a](const piece& t) { return t.end <= a; });
    if (at != c.turns.begin()) distance = std::min(distance, a - std::prev(at)->end);
    for (; at != c.turns.end() && (at->start < b || (a == b && at->start <= a)); ++at)
      share += a == b ? at->p : at->p * static_cast<double>(std::min(b, at->end) - std::max(a, at->start));
    if (at != c.turns.end()) distance = std::min(distance, at->start - b);
  }

  finding look(std::int64_t a, std::int64_t b, int before) const {
    b = std::max(a, b);
    constexpr std::int64_t unreachable = std::int64_t{1} << 60;
    if (!finished_ && known_ < std::max(b, a + 1)) return {};
    std::vector<double> shares(columns_.size(), 0.0);
    std::vector<std::int64_t> distances(columns_.size(), unreachable);
    for (std::size_t s = 0; s < columns_.size(); ++s) measure(columns_[s], a, b, shares[s], distances[s]);
    // The best by `better`; of equals `before`, else who appeared first.
    const auto best = [&](auto&& counts, auto&& better) {
      int found = -1;
      for (int s = 0; s < static_cast<int>(columns_.size()); ++s) {
        if (!counts(index(s))) continue;
        const bool equal = found >= 0 && !better(index(s), index(found)) && !better(index(found), index(s));
        if (found < 0 || better(index(s), index(found)) ||
            (equal && found != before && (s == before || columns_[index(s)].first < columns_[index(found)].first)))
          found = s;
      }
      return found;
    };
    const int holds = best([&](std::size_t s) { return shares[s] > 0; },
                           [&](std::size_t s, std::size_t t) { return shares[s] > shares[t]; });
    if (holds >= 0) return {.settled = true, .who = holds};
    if (!finished_ && known_ < b + reach_ms() + 1) return {};
    return {.settled = true,
            .who = best([&](std::size_t s) { return distances[s] <= reach_ms(); },
                        [&](std::size_t s, std::size_t t) { return distances[s] < distances[t]; })};
  }
  static std::size_t index(int s) { return static_cast<std::size_t>(s); }

  // Order of appearance in the text, from 0; -1 before.
  int number(int who) const {
    const auto at = std::find(appeared_.begin(), appeared_.end(), who);
    return at == appeared_.end() ? -1 : static_cast<int>(at - appeared_.begin());
  }
  std::string name(int who) const {
    const auto n = static_cast<std::size_t>(number(who));
    return n < options_.names.size() ? options_.names[n] : "Speaker " + std::to_string(n + 1);
  }
  STENO_ON_CALL std::optional<std::string> named(int who) {
    if (who < 0) return std::nullopt;
    if (number(who) < 0) appeared_.push_back(who);
    return name(who);
  }

  static bool timed(const word& w) { return w.how != timing::none; }
  // Finds the speakers of a segment and its words, unless one is not settled.
  STENO_ON_CALL STENO_COLD bool attribute(segment& s) {
    found_.clear();
    whole_ = -1;
    if (s.text.empty() && s.words.empty()) return true;
    const std::int64_t start = ms(s.start);
    const bool by_words = !s.words.empty() && std::all_of(s.words.begin(), s.words.end(), timed);
    int before = last_;
    finding whole{.settled = true};
    if (!by_words) {
      whole = look(start, ms(s.end), before);
    } else if (!options_.split) {
      double last = s.words.front().end;
      for (const word& w : s.words) last = std::max(last, w.end);
      whole = look(std::max(start, ms(s.words.front().start)), std::max(start, ms(last)), before);
    }
    if (!whole.settled) return false;
    for (const word& w : s.words) {
      finding f = whole;
      if (timed(w)) f = look(std::max(start, ms(w.start)), std::max(start, ms(w.end)), before);
      if (!f.settled) return false;
      found_.push_back(before = f.who);
    }
    whole_ = whole.who;
    if (by_words && options_.split) {  // the speaker of the first word that has one
      const auto first = std::find_if(found_.begin(), found_.end(), [](int who) { return who >= 0; });
      if (first != found_.end()) whole_ = *first;
    }
    splits_ = by_words && options_.split;
    last_ = found_.empty() ? whole_ : found_.back();
    return true;
  }

  // The text behind `cut` as it follows `before`; nothing where append_text() would not restore it.
  static std::optional<std::string_view> continuation(std::string_view before, std::string_view rest) {
    const auto restores = [&](std::string_view part) {
      std::string joined(before);
      append_text(joined, part);
      return joined.size() == before.size() + rest.size() && joined.ends_with(rest);
    };
    const std::string_view bare = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    if (restores(bare)) return bare;
    if (restores(rest)) return rest;
    return std::nullopt;
  }

  STENO_ON_CALL STENO_COLD void hand_over(segment s, core::sink_ref<segment>& sink) {
    const auto places = splits_ ? text::words_in_text(s.text, s.words) : std::vector<text::word_place>();
    if (!places.empty()) {
      split(std::move(s), places, sink);
      return;
    }
    for (std::size_t i = 0; i < found_.size(); ++i) s.words[i].speaker = named(found_[i]);
    s.speaker = named(whole_);
    sink(std::move(s));
  }

  // What the recogniser says of the whole stays with the first piece.
  STENO_ON_CALL STENO_COLD void split(segment s, const std::vector<text::word_place>& places,
                                      core::sink_ref<segment>& sink) {
    const std::string text = std::move(s.text);
    std::vector<word> words = std::move(s.words);
    s.words.clear();
    std::string raw;
    for (const auto& [key, value] : s.extra)
      if (key == "raw_text" && std::holds_alternative<std::string>(value)) raw = std::get<std::string>(value);
    const auto raw_places = text::words_in_text(raw, words);
    const double end = s.end;
    std::size_t from = 0, text_from = 0, begin = 0;  // of the piece: word, byte, byte of its own first character
    int speaker = found_[0];
    const auto emit = [&](std::size_t to, std::size_t text_to) {
      segment part;
      if (from == 0) {
        part = s;
      } else {
        part.start = words[from].start;
        part.language = s.language;
        part.extra = s.extra;
      }
      part.end = to == words.size() ? std::max(end, part.start) : std::max(part.start, words[to - 1].end);
      part.text = text.substr(begin, text_to - begin);
      if (from != 0 || to != words.size()) cut_raw(part, raw, raw_places, from, to);
      for (std::size_t i = from; i < to; ++i) {
        words[i].speaker = named(found_[i]);
        part.words.push_back(std::move(words[i]));
      }
      part.speaker = named(speaker);
      sink(std::move(part));
    };
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (speaker < 0) speaker = found_[i];
      if (found_[i] < 0 || found_[i] == speaker) continue;
      const std::size_t cut = places[i].cut;
      const auto rest =
          continuation(std::string_view(text).substr(text_from, cut - text_from), std::string_view(text).substr(cut));
      if (!rest) continue;
      emit(i, cut);
      from = i;
      text_from = cut;
      begin = text.size() - rest->size();
      speaker = found_[i];
    }
    emit(words.size(), text.size());
  }
  STENO_ON_CALL static void cut_raw(segment& part, const std::string& raw, const std::vector<text::word_place>& places,
                                    std::size_t from, std::size_t to) {
    for (auto at = part.extra.begin(); at != part.extra.end(); ++at) {
      if (at->first != "raw_text") continue;
      if (places.empty()) {
        part.extra.erase(at);
        return;
      }
      const std::size_t begin = places[from].cut, end = to < places.size() ? places[to].cut : raw.size();
      at->second = raw.substr(begin, end - begin);
      return;
    }
  }

  speaker_attribution_options options_;
  double frame_ms_;
  std::vector<column> columns_;
  std::deque<segment> waiting_;
  std::vector<int> appeared_;  // columns
  extent rows_ = 0;
  std::int64_t known_ = 0;  // milliseconds; what came before is complete
  bool finished_ = false, splits_ = false;
  int last_ = -1;           // column of the word before
  std::vector<int> found_;  // of the words of a segment
  int whole_ = -1;
};

/// The speakers of a result that is complete, by rows of a diarizer.
STENO_ON_CALL STENO_COLD inline void attribute_speakers(result& r, const view<const float>& rows, double frame_seconds,
                                                        const speaker_attribution_options& o = {}) {
  speaker_attribution who(rows.cols(), frame_seconds, o);
  who.push(rows);
  who.finish();
  for (segment& s : r.segments) who.add(std::move(s));
  r.segments.clear();
  who.take([&](segment s) { r.segments.push_back(std::move(s)); });
}
/// The same by a diarizer's segments, as diarizer::diarize() gives them.
STENO_ON_CALL STENO_COLD inline void attribute_speakers(result& r, const std::vector<segment>& turns,
                                                        const speaker_attribution_options& o = {}) {
  std::vector<std::string> known;
  const auto column = [&](const segment& t) {
    const std::string who = t.speaker.value_or("");
    const auto at = std::find(known.begin(), known.end(), who);
    if (at == known.end()) return known.push_back(who), static_cast<extent>(known.size()) - 1;
    return static_cast<extent>(at - known.begin());
  };
  for (const segment& t : turns) (void)column(t);
  speaker_attribution who(static_cast<extent>(known.size()), 1, o);
  for (const segment& t : turns) who.turn(t.start, t.end, column(t));
  who.finish();
  for (segment& s : r.segments) who.add(std::move(s));
  r.segments.clear();
  who.take([&](segment s) { r.segments.push_back(std::move(s)); });
}

}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno

// steno/pipelines/transcriber.hpp - any model from a file, recordings of any length, one kind of result.
//
// The architecture named in the file picks the model; a new family adds itself to any_model.hpp. A transcriber
// is const after loading and may be shared by threads, each with its own context. Tested in tests/pipelines.
//
//   transcriber t("model.gguf");  context c;
//   result r = t.transcribe(pcm, {}, c);                      // a recording in memory
//   recording r(t, {});                                       // one that comes in, of any length
//   while (...) r.push(some, c, [](segment s) { ... });  r.finish(c, ...);
//   recording::hear_waiting(recordings, true, c);             // the clips of several that are closed, together
#pragma once
#include <steno/pipelines/any_model.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/long_audio.hpp>
#include <steno/pipelines/model_summary.hpp>
#include <steno/pipelines/result.hpp>

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

class transcriber {
 public:
  /// Loads a packaged GGUF file. `run` packs the weights in parallel. Throws steno::error.
  explicit transcriber(const std::string& path, const executor& run = {}) : transcriber(gguf_file(path), run) {}
  /// The same from an open file; `image` owns its bytes when they are in memory.
  explicit transcriber(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {})
      : model_(open_model(std::move(file), run, std::move(image))) {}

  std::string_view model_name() const {
    return std::visit([](const auto& m) { return std::remove_cvref_t<decltype(m)>::architecture; }, model_);
  }
  /// Samples per second that transcribe() expects.
  int sample_rate() const {
    return std::visit([](const auto& m) { return m.sample_rate; }, model_);
  }
  std::vector<std::string> languages() const {
    return std::visit([](const auto& m) { return m.languages(); }, model_);
  }
  const any_model& model() const noexcept { return model_; }

  model_summary summary() const {
    model_summary s = std::visit([](const auto& m) { return summarise(*m.storage.file); }, model_);
    s.sample_rate = sample_rate();
    s.languages = languages();
    return s;
  }

  /// A whole recording: mono samples in [-1, 1] at sample_rate(). Throws steno::error for options the model does not
  /// know.
  result transcribe(std::span<const float> pcm, const transcribe_options& o, context& c) const;

 private:
  any_model model_;
};

/// A recording of any length while it comes in: push() its samples in portions of any size, then finish(). Segments are
/// told as soon as they are known, and not kept; the portions make no difference to them. A model that looks_first()
/// (Whisper, unless a detector cuts) must have seen all of a recording before it begins: look() at it and push() it
/// again, or push() alone, which keeps the samples until finish(). The transcriber, and the detector in the options,
/// must outlive it.
class recording {
  auto voice_sink() {  // first, since its type is deduced
    return [this](const voice_change& v) { cutter_.voice(v); };
  }

 public:
  recording(const transcriber& t, const transcribe_options& o)
      : transcriber_(t),
        options_(o),
        hotwords_(std::make_unique<const hotword_automaton>(hotword_graph(t.model(), o))),
        cutter_(t.sample_rate(), clips_of(t.model(), o)) {
    if (o.vad != nullptr) voices_.emplace(*o.vad, o.vad_settings);
    head_.model = t.model_name();
    refuse_options();
    if (o.vad == nullptr) std::visit([&]<class Model>(const Model& m) { begin_whole(m); }, t.model());
  }
  /// Whether look() is of use.
  bool looks_first() const noexcept { return whole_.index() != 0; }
  /// All of the recording once, before it is pushed; does nothing for models that need not.
  void look(std::span<const float> pcm, context& c) {
    each_whole([&](auto& w) { w.look(pcm, c); });
  }

  /// sink(segment&&) for every segment that is complete.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    if (looks_first()) {
      pushed_ += static_cast<extent>(pcm.size());
      each_whole([&](auto& w) { w.push(pcm, c, whole_sink(w, sink)); });
      return;
    }
    while (!pcm.empty()) {
      // To the next multiple of a block, so that what is decided when does not depend on the portions.
      const auto into = static_cast<std::size_t>(cutter_.end() % block);
      const auto some = pcm.first(std::min(pcm.size(), static_cast<std::size_t>(block) - into));
      cutter_.push(some);
      if (voices_) {
        voices_->accept(some, c, voice_sink());
        cutter_.settled(voices_->settled_ms());
      }
      if (cutter_.end() % block == 0) hear(c, sink);
      pcm = pcm.subspan(some.size());
    }
  }
  /// No samples follow. Clips that are fewer than options.at_once wait: for finish(), or to be heard together with
  /// those of other recordings (hear_waiting()).
  template <class Sink>
  void close(context& c, Sink&& sink) {
    if (closed_) return;
    closed_ = true;
    if (looks_first()) return;
    if (voices_) voices_->finish(c, voice_sink());
    cutter_.finish();
    hear(c, sink);
  }
  /// Of clips that wait since close() for others.
  double waiting_seconds() const noexcept {
    std::size_t count = 0;
    for (const waiting_clip& w : waiting_) count += waits(w) ? w.pcm.size() : 0;
    return static_cast<double>(count) / transcriber_.sample_rate();
  }
  /// Hears clips that wait in closed recordings of one transcriber with equal options, options.at_once at a time in the
  /// order given, and with `rest` the last ones, too. Each recording tells its own in finish(), and they are what it
  /// would have heard alone. Clips that cannot be heard so are left to their own finish(), which throws what is wrong.
  static void hear_waiting(std::span<recording* const> closed, bool rest, context& c) {
    std::vector<waiting_clip*> some;
    for (recording* const r : closed)
      for (waiting_clip& w : r->waiting_) {
        if (!waits(w)) continue;
        some.push_back(&w);
        if (static_cast<int>(some.size()) >= r->options_.at_once) r->hear_with_others(some, c);
      }
    if (rest && !some.empty()) closed.front()->hear_with_others(some, c);
  }
  /// The rest. Returns the result without its segments: model, duration, language and, for one segment, extra.
  template <class Sink>
  result finish(context& c, Sink&& sink) {
    close(c, sink);
    if (looks_first()) {
      each_whole([&](auto& w) { w.finish(c, whole_sink(w, sink), head_); });
      head_.duration = static_cast<double>(pushed_) / transcriber_.sample_rate();
      done_ = head_.duration;
      return std::move(head_);
    }
    if (!waiting_.empty()) hear_together(c, sink);
    done_ = static_cast<double>(cutter_.end()) / transcriber_.sample_rate();
    head_.duration = static_cast<double>(cutter_.end()) / transcriber_.sample_rate();
    if (told_ != 1) head_.extra.clear();
    return std::move(head_);
  }
  /// Seconds of audio that are done.
  double done() const noexcept { return done_; }
  /// Seconds before which no segment that is still to be told begins.
  double needed_from() const noexcept {
    if (looks_first()) return done_;
    const extent first = waiting_.empty() ? cutter_.first() : std::min(cutter_.first(), waiting_.front().range.begin);
    return static_cast<double>(first) / transcriber_.sample_rate();
  }

 private:
  static constexpr extent block = 8000;  // samples

  struct waiting_clip {
    std::vector<float> pcm;
    audio_range range;
    std::vector<segment> heard = {};
    std::exception_ptr failure = {};
    bool done = false, alone = false;  ///< heard; not to be heard with clips of others again
  };
  static bool waits(const waiting_clip& w) noexcept { return !w.done && !w.alone; }

  void refuse_options() const {
    const std::vector<std::string> refused = refused_options(transcriber_.model(), options_.decoding);
    if (refused.empty()) return;
    fail({.what = "option " + refused[0],
          .expected = "one that the model takes",
          .found = std::string(transcriber_.model_name())});
  }
  template <class Model>
  void begin_whole(const Model& m) {
    if constexpr (hears_whole<Model>) {
      whole_.template emplace<typename whole_hearing_of<Model>::type>(m, options_, *hotwords_);
    }
  }
  template <class F>
  void each_whole(F&& f) {
    std::visit(
        [&]<class W>(W& w) {
          if constexpr (!std::is_same_v<W, std::monostate>) f(w);
        },
        whole_);
  }
  // Segments of a whole recording; those without text are told too, since the original writes them.
  template <class Whole, class Sink>
  auto whole_sink(Whole& w, Sink& sink) {
    return [this, &w, &sink](segment s) {
      done_ = w.done();
      if (head_.language.empty()) head_.language = s.language;
      sink(std::move(s));
    };
  }

  template <class Sink>
  void hear(context& c, Sink& sink) {
    while (const auto range = cutter_.next()) {
      const auto clip = cutter_.clip(*range);
      if (options_.at_once <= 1) {
        tell(recognise_clip(whole_part(clip, range->begin), c), *range, sink);
        done_ = static_cast<double>(range->end) / transcriber_.sample_rate();
        continue;
      }
      const auto part = whole_part(clip, range->begin);
      waiting_.push_back({{part.begin(), part.end()}, *range});
      if (static_cast<int>(waiting_.size()) == options_.at_once) hear_together(c, sink);
    }
  }
  /// Each clip on one thread, with scratch memory of its own; the weights are shared. Models that write token by token
  /// write all of them together, on all threads.
  void hear_clips(std::span<waiting_clip* const> some, context& c) {
    if (!write_together(some, c)) hear_apart(some, c);
    for (waiting_clip* const w : some) w->done = true;
  }
  void hear_with_others(std::vector<waiting_clip*>& some, context& c) {
    try {
      hear_clips(some, c);
    } catch (...) {  // whose fault it is will be seen when each is heard alone
      for (waiting_clip* const w : some) w->alone = true;
    }
    some.clear();
  }
  /// Hears what waits in this recording, and tells it.
  template <class Sink>
  void hear_together(context& c, Sink& sink) {
    std::vector<waiting_clip*> open;
    for (waiting_clip& w : waiting_)
      if (!w.done) open.push_back(&w);
    if (!open.empty()) hear_clips(open, c);
    for (waiting_clip& w : waiting_) {
      if (w.failure) std::rethrow_exception(w.failure);
      tell(std::move(w.heard), w.range, sink);
      done_ = static_cast<double>(w.range.end) / transcriber_.sample_rate();
    }
    waiting_.clear();
  }
  // False for models that have no such way.
  bool write_together(std::span<waiting_clip* const> some, context& c) {
    return std::visit(
        [&]<class Model>(const Model& m) {
          if constexpr (writes_together<Model>) {
            std::vector<std::span<const float>> clips;
            for (const waiting_clip* const w : some) clips.emplace_back(w->pcm);
            std::vector<segment> heard = recognise(m, std::span<const std::span<const float>>(clips), options_, c);
            for (std::size_t i = 0; i < heard.size(); ++i) some[i]->heard.push_back(std::move(heard[i]));
          }
          return writes_together<Model>;
        },
        transcriber_.model());
  }
  void hear_apart(std::span<waiting_clip* const> some, context& c) {
    while (scratch_.size() < static_cast<std::size_t>(c.run.width())) scratch_.emplace_back();
    auto work = [&](extent i, int worker) noexcept {
      waiting_clip& w = *some[static_cast<std::size_t>(i)];
      try {
        w.heard = recognise_clip(w.pcm, scratch_[static_cast<std::size_t>(worker)]);
      } catch (...) {
        w.failure = std::current_exception();
      }
    };
    c.run.run(static_cast<extent>(some.size()), work);
  }

  // The end of a recording that was cut, filled up where the model wants that.
  std::span<const float> whole_part(std::span<const float> clip, extent begin) {
    const double shortest =
        std::visit([]<class Model>(const Model&) { return clip_rule<Model>::shortest; }, transcriber_.model());
    const auto least = static_cast<std::size_t>(shortest * transcriber_.sample_rate());
    if (options_.vad != nullptr || begin == 0 || clip.size() >= least) return clip;
    filled_.assign(clip.begin(), clip.end());
    filled_.resize(least);
    return filled_;
  }
  std::vector<segment> recognise_clip(std::span<const float> clip, context& c) const {
    return std::visit(
        [&]<class Model>(const Model& m) {
          std::vector<segment> heard;
          if constexpr (telling_turns<Model>)
            heard = recognise_turns(m, clip, options_, *hotwords_, c);
          else if constexpr (searching<Model>)
            heard.push_back(recognise(m, clip, options_, *hotwords_, c));
          else
            heard.push_back(recognise(m, clip, options_, c));
          return heard;
        },
        transcriber_.model());
  }
  template <class Sink>
  void tell(std::vector<segment> heard, const audio_range& range, Sink& sink) {
    for (segment& s : heard) tell_one(std::move(s), range, sink);
  }
  template <class Sink>
  void tell_one(segment s, const audio_range& range, Sink& sink) {
    if (s.token_ids.empty()) return;
    const double rate = transcriber_.sample_rate(), offset = static_cast<double>(range.begin) / rate;
    s.end = std::min(s.end, static_cast<double>(range.end - range.begin) / rate);  // it may have been filled up
    s.start += offset;
    s.end += offset;
    for (word& w : s.words) {
      w.start += offset;
      w.end += offset;
    }
    if (head_.language.empty()) head_.language = s.language;
    if (++told_ == 1) head_.extra = s.extra;
    sink(std::move(s));
  }

  const transcriber& transcriber_;
  transcribe_options options_;
  std::unique_ptr<const hotword_automaton> hotwords_;  // stays where it is when the recording moves
  clip_cutter cutter_;
  std::optional<vad_stream> voices_;
  result head_;
  std::vector<waiting_clip> waiting_;
  std::vector<context> scratch_;
  std::vector<float> filled_;
  whole_hearing whole_;
  extent pushed_ = 0;  // samples of what is heard as a whole
  std::size_t told_ = 0;
  double done_ = 0;
  bool closed_ = false;
};

inline result transcriber::transcribe(std::span<const float> pcm, const transcribe_options& o, context& c) const {
  recording r(*this, o);
  std::vector<segment> segments;
  std::string text;
  const auto sink = [&](segment s) {
    append_text(text, s.text);
    segments.push_back(std::move(s));
  };
  const double total = static_cast<double>(pcm.size()) / sample_rate();
  constexpr std::size_t portion = 16000;
  r.look(pcm, c);
  for (std::size_t at = 0; at < pcm.size(); at += portion) {
    const double before = r.done();
    r.push(pcm.subspan(at, std::min(portion, pcm.size() - at)), c, sink);
    if (r.done() > before) o.progress(r.done(), total);
  }
  result whole = r.finish(c, sink);
  o.progress(total, total);
  whole.text = std::move(text);
  whole.segments = std::move(segments);
  return whole;
}

}  // namespace STENO_ABI
}  // namespace steno

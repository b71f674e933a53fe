#include "engine.hpp"

#include <steno/core/thread_pool.hpp>
#include <steno/models/qwen3_aligner.hpp>
#include <steno/pipelines/punctuate.hpp>
#include <steno/pipelines/word_aligner.hpp>

#include <steno/error.hpp>

#include <algorithm>
#include <optional>
#include <thread>

#include "abilities.hpp"
#include "loading.hpp"
#include "model_files.hpp"

namespace steno::app {

transcriber load_transcriber(const std::string& path, const executor& run, const note_function& note) {
  opened_checkpoint opened = open_model_file(path);
  for (const std::string& text : opened.notes) note(text);
  return transcriber(std::move(opened.file), run, std::move(opened.image));
}

namespace {

int thread_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

// A detector by its name, or from any file that steno-convert reads.
any_vad open_detector(const std::string& name, const executor& run) {
  if (name == "energy") return energy_vad();
  opened_checkpoint opened = open_model_file(name);
  return open_vad(std::move(opened.file), run, std::move(opened.image));
}

// What reads a recording, and what its texts go through.
class open_transcript final : public transcript {
 public:
  open_transcript(std::unique_ptr<recording> r, const qwen3_forced_aligner_any* aligner, const ct_punc_any* marks,
                  context& c)
      : listening(std::move(r)), punctuation_(marks), context_(c) {
    if (aligner != nullptr) times_.emplace(*aligner);
  }
  void read(const sample_function& audio, const transcript_sink& to) {
    std::vector<float> some(16000);
    const auto sink = [&](segment s) { tell(std::move(s), to); };
    while (const std::size_t n = audio(some)) {
      if (times_) times_->push(std::span<const float>(some).first(n));
      listening->push(std::span<const float>(some).first(n), context_, sink);
      if (times_) times_->forget(listening->needed_from());
      to.progress(listening->done());
    }
    listening->close(context_, sink);
  }
  double waiting_seconds() const override { return listening->waiting_seconds(); }
  result finish(const transcript_sink& to) override {
    return listening->finish(context_, [&](segment s) { tell(std::move(s), to); });
  }

  const std::unique_ptr<recording> listening;

 private:
  void tell(segment s, const transcript_sink& to) {
    if (times_) times_->align(s, context_);
    if (punctuation_ != nullptr) punctuate(s, *punctuation_, context_);
    to.heard(std::move(s));
    to.progress(listening->done());
  }

  std::optional<word_aligner<qwen3_forced_aligner_any>> times_;
  const ct_punc_any* punctuation_;
  context& context_;
};

class loaded_model final : public recogniser {
 public:
  loaded_model(const std::string& path, int threads, const note_function& note)
      : pool_(thread_count(threads)),
        context_(executor(pool_)),
        model_(load_transcriber(path, executor(pool_), note)) {}

  int sample_rate() const override { return model_.sample_rate(); }
  std::vector<std::string> languages() const override { return model_.languages(); }
  bool knows_language(const std::string& language) const override {
    return steno::knows_language(model_.model(), language);
  }
  std::vector<ability> abilities() const override { return abilities_of(model_.model()); }
  style usual_style() const override {
    return std::holds_alternative<whisper_any>(model_.model()) ? style::openai : style::steno;
  }

  void punctuate_with(const std::string& path, const note_function& note) override {
    opened_checkpoint opened = open_model_file(path);
    for (const std::string& text : opened.notes) note(text);
    punctuation_.emplace(load<ct_punc_any>(std::move(opened.file), executor(pool_), std::move(opened.image)));
  }

  void align_with(const std::string& path, const note_function& note) override {
    opened_checkpoint opened = open_model_file(path);
    for (const std::string& text : opened.notes) note(text);
    aligner_.emplace(load<qwen3_forced_aligner_any>(std::move(opened.file), executor(pool_), std::move(opened.image)));
    if (aligner_->sample_rate != model_.sample_rate())
      fail({.where = path,
            .what = "sample rate of the aligner",
            .expected = std::to_string(model_.sample_rate()),
            .found = std::to_string(aligner_->sample_rate)});
  }

  bool looks_first(const request& r) const override {
    return r.vad == "none" && std::visit([]<class Model>(const Model&) { return hears_whole<Model>; }, model_.model());
  }
  void look(const sample_function& audio, const request& r) override {
    seen_ = std::make_unique<recording>(model_, options_of(r));
    std::vector<float> some(16000);
    while (const std::size_t n = audio(some)) seen_->look(std::span<const float>(some).first(n), context_);
  }
  std::unique_ptr<transcript> read(const sample_function& audio, const request& r, const transcript_sink& to) override {
    if (!seen_) seen_ = std::make_unique<recording>(model_, options_of(r));
    auto made = std::make_unique<open_transcript>(std::move(seen_), aligner_ ? &*aligner_ : nullptr,
                                                  punctuation_ ? &*punctuation_ : nullptr, context_);
    made->read(audio, to);
    return made;
  }
  void hear_waiting(std::span<transcript* const> some, bool rest) override {
    std::vector<recording*> all;
    for (transcript* const t : some) all.push_back(static_cast<open_transcript*>(t)->listening.get());
    recording::hear_waiting(all, rest, context_);
  }

 private:
  transcribe_options options_of(const request& r) {
    transcribe_options o;
    o.language = r.language;
    o.itn = r.inverse_text_normalisation;
    o.vad = detector(r.vad);
    o.merge = r.merge;
    o.longest_segment = r.longest;
    if (aligner_) o.at_most = aligner_->max_seconds;
    o.at_once = r.at_once;
    o.beam = r.beam;
    o.hotwords = r.hotwords;
    o.hotword_score = r.hotword_score;
    o.decoding = r.decoding;
    return o;
  }
  // The detector of the last request: opened once for all files.
  const any_vad* detector(const std::string& name) {
    if (name == "none") return nullptr;
    if (!detector_ || name != detector_name_) {
      detector_.emplace(open_detector(name, executor(pool_)));
      detector_name_ = name;
    }
    if (vad_sample_rate(*detector_) != model_.sample_rate())
      fail({.where = name,
            .what = "sample rate of the detector",
            .expected = std::to_string(model_.sample_rate()),
            .found = std::to_string(vad_sample_rate(*detector_))});
    return &*detector_;
  }

  thread_pool pool_;
  context context_;
  transcriber model_;
  std::string detector_name_;
  std::optional<any_vad> detector_;
  std::optional<ct_punc_any> punctuation_;
  std::optional<qwen3_forced_aligner_any> aligner_;
  std::unique_ptr<recording> seen_;  // what look() saw
};

}  // namespace

model_facts facts_of(const std::string& path) {
  opened_checkpoint opened = open_model_file(path);
  model_summary s = summarise(opened.file);
  std::vector<std::string> honoured, live;
  if (transcribes(s.architecture)) {
    const transcriber t(std::move(opened.file), {}, std::move(opened.image));
    s = t.summary();
    honoured = honoured_options(t.model());
    live = honoured_live_options(t.model());
  }
  model_facts f{.name = s.name,
                .architecture = s.architecture,
                .sample_rate = s.sample_rate,
                .tensors = s.tensors,
                .parameters = s.parameters,
                .vocabulary = s.vocabulary,
                .languages = s.languages,
                .bytes = {},
                .settings = s.settings,
                .options = std::move(honoured),
                .live_options = std::move(live)};
  for (const auto& [format, bytes] : s.bytes_by_format) f.bytes.emplace_back(format, bytes);
  return f;
}

std::unique_ptr<recogniser> open_model(const std::string& path, int threads, const note_function& note) {
  return std::make_unique<loaded_model>(path, threads, note);
}

}  // namespace steno::app

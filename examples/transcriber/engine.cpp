#include "engine.hpp"

#include <steno/core/thread_pool.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <algorithm>
#include <thread>

#include "convert.hpp"

namespace steno::app {
namespace {

int thread_count(int wanted) {
  return wanted > 0 ? wanted : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

transcriber load_model(const std::string& path, const executor& run, const note_function& note) {
  opened_checkpoint opened = open_checkpoint(path);
  for (const std::string& text : opened.notes) note(text);
  return transcriber(std::move(opened.file), run, std::move(opened.image));
}

class loaded_model final : public recogniser {
 public:
  loaded_model(const std::string& path, int threads, const note_function& note)
      : pool_(thread_count(threads)), context_(executor(pool_)), model_(load_model(path, executor(pool_), note)) {}

  int sample_rate() const override { return model_.sample_rate(); }
  std::vector<std::string> languages() const override { return model_.languages(); }
  bool has_beam_search() const override { return false; }  // no family built so far searches with a beam

  model_facts facts() const override {
    const model_summary s = model_.summary();
    model_facts f{.name = s.name,
                  .architecture = s.architecture,
                  .sample_rate = s.sample_rate,
                  .tensors = s.tensors,
                  .parameters = s.parameters,
                  .vocabulary = s.vocabulary,
                  .languages = s.languages,
                  .bytes = {},
                  .settings = s.settings};
    for (const auto& [format, bytes] : s.bytes_by_format) f.bytes.emplace_back(format, bytes);
    return f;
  }

  result transcribe(std::span<const float> pcm, const request& r, const progress_function& progress) override {
    transcribe_options o;
    o.language = r.language;
    o.itn = r.inverse_text_normalisation;
    o.progress = progress;
    return model_.transcribe(pcm, o, context_);
  }

 private:
  thread_pool pool_;
  context context_;
  transcriber model_;
};

}  // namespace

std::unique_ptr<recogniser> open_model(const std::string& path, int threads, const note_function& note) {
  return std::make_unique<loaded_model>(path, threads, note);
}

}  // namespace steno::app

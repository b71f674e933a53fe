// Whisper at the published sizes with random weights, one thread: 30 s through the encoder (with the decoder's keys and
// values of it), a token, a batch of five beams, a prompt of 256; log-mel of 30 s.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/models/whisper.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <numeric>

#include "model_work.hpp"
#include "thread_counts.hpp"

namespace {

using namespace steno;

template <class Model>
struct loaded {
  explicit loaded(dtype format) : model(std::make_unique<Model>()) {
    weights::randomise(*model, keep, 1, format);
    models::keep_weights(*model, nullptr, keep, {});
    weights::random_numbers next(3);
    features.resize(3000, 80);
    for (extent i = 0; i < features.size(); ++i) features.data()[i] = next();
    context c;
    model->encode(features, window, c);
  }
  /// Bytes of the decoder's products.
  double decoder_bytes() const {
    double bytes = 0;
    core::walk(model->decoder, [&]<class Leaf>(const std::string&, Leaf& w, bool) {
      if constexpr (core::weight_leaf<Leaf>)
        if (Leaf::purpose != weights::use::rows) bytes += static_cast<double>(w.ref().bytes());
    });
    return bytes;
  }
  weights::storage keep;
  std::unique_ptr<Model> model;
  matrix<float, dynamic, 80> features;
  whisper::whisper_window window;
};

// One model at a time: the small one alone is 500 MB in f32.
template <class Model>
loaded<Model>& one(dtype format) {
  static std::map<dtype, std::unique_ptr<loaded<Model>>> all;
  auto& l = all[format];
  if (!l) l = std::make_unique<loaded<Model>>(format);
  return *l;
}

template <class Model>
void encode(benchmark::State& state, dtype format) {
  auto& l = one<Model>(format);
  thread_pool pool(static_cast<int>(state.range(0)));
  context c{executor(pool)};
  const double d = static_cast<double>(l.model->decoder.width()), t = 1500;
  const double layers = static_cast<double>(l.model->encoder.template get<"blocks">().size());
  const double cross = static_cast<double>(l.model->decoder.blocks().size()) * 4 * t * d * d;
  const double convolutions = 2 * 3000 * 240 * d + 2 * t * 3 * d * d;
  const double products = layers * 24 * t * d * d + cross + convolutions, attention = layers * 4 * t * t * d;
  steno_bench::measure(state,
                       steno_bench::layer_work(products, attention, format, 30, static_cast<int>(state.range(0))),
                       [&] { l.model->encode(l.features, l.window, c); });
  if (context one; pool.width() > 1)
    steno_bench::measure_speedup(
        state, [&] { l.model->encode(l.features, l.window, one); }, [&] { l.model->encode(l.features, l.window, c); });
}

// The next token of `beams` hypotheses that are 128 tokens long.
template <class Model>
void token(benchmark::State& state, dtype format) {
  auto& l = one<Model>(format);
  context c;
  const auto beams = static_cast<int>(state.range(0));
  matrix<float, dynamic, dynamic> rows(128, l.model->decoder.width()), scores(beams, l.model->decoder.vocabulary());
  std::vector<int> ids(128), next(static_cast<std::size_t>(beams)), forks(next.size(), 0);
  std::iota(ids.begin(), ids.end(), 1000);
  std::iota(next.begin(), next.end(), 5000);
  l.window.text.clear();
  l.model->prompt_rows(ids, l.window, rows, c);
  l.window.text.fork(forks);
  const nn::whisper_decoder_state before = l.window.text;
  int steps = 0;
  double encoded = 0;
  for (const nn::kv_cache& k : l.window.encoded) encoded += static_cast<double>(k.bytes());
  steno_bench::measure(state, {.bytes = l.decoder_bytes() + encoded, .from_memory = true}, [&] {
    if (++steps % 64 == 0) l.window.text = before;  // back to 128
    auto y = core::write(rows.topRows(beams));
    l.model->step_rows(next, l.window, y, c);
    l.model->logits_of(y, scores, c);
  });
}

template <class Model>
void prompt(benchmark::State& state, dtype format) {
  auto& l = one<Model>(format);
  context c;
  matrix<float, dynamic, dynamic> rows(256, l.model->decoder.width()), scores(1, l.model->decoder.vocabulary());
  std::vector<int> ids(256);
  std::iota(ids.begin(), ids.end(), 1000);
  const double d = static_cast<double>(l.model->decoder.width()), n = 256;
  const double layers = static_cast<double>(l.model->decoder.blocks().size());
  const double products = layers * 28 * n * d * d, attention = layers * 4 * d * (n * 1500 + n * n / 2);
  steno_bench::measure(state, steno_bench::layer_work(products, attention, format, 0), [&] {
    l.window.text.clear();
    l.model->prompt_rows(ids, l.window, rows, c);
    l.model->logits_of(core::write(rows.bottomRows(1)), scores, c);
  });
}

void log_mel_30s(benchmark::State& state) {
  const frontends::log_mel<80> frontend;
  std::vector<float> pcm(480000);
  weights::random_numbers next(3);
  for (float& x : pcm) x = next();
  matrix<float, dynamic, 80> y(3000, 80);
  context c;
  steno_bench::measure(state, {.audio = 30}, [&] { frontend(pcm, y, c); });
}

template <class Model>
void add(const char* size) {
  for (const dtype format : {dtype::q8_0, dtype::q8_128, dtype::bf16_a16, dtype::f16}) {
    const auto named = [&](const char* what) {
      return std::string("whisper_").append(size).append("/").append(what).append("/").append(core::info(format).name);
    };
    const auto with = [format](auto* f) { return [f, format](benchmark::State& s) { f(s, format); }; };
    auto* const encoder = benchmark::RegisterBenchmark(named("encode").c_str(), with(&encode<Model>));
    for (const int threads : steno_bench::thread_counts()) encoder->Arg(threads)->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(named("token").c_str(), with(&token<Model>))
        ->Arg(1)
        ->Arg(5)
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(named("prompt_256").c_str(), with(&prompt<Model>))->Unit(benchmark::kMillisecond);
  }
}

[[maybe_unused]] const bool registered = [] {
  benchmark::RegisterBenchmark("whisper/log_mel_30s", log_mel_30s)->Unit(benchmark::kMillisecond);
  add<whisper::whisper_tiny>("tiny");
  add<whisper::whisper_base>("base");
  add<whisper::whisper_small>("small");
  return true;
}();

}  // namespace

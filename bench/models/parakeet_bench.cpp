// Parakeet at full size with random weights, one thread. The figures to look at: encoder of 20 s of audio (0.6b: 24
// layers of 1024), TDT's search over its rows as a fraction of that, and one step of the streaming EOU model.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/load.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/streaming/parakeet_stream.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <vector>

#include "model_work.hpp"

using namespace steno;

namespace {

constexpr extent seconds = 20;

std::vector<float> noise(std::size_t n) {
  std::vector<float> pcm(n);
  weights::random_numbers next(3);
  for (float& v : pcm) v = 0.1f * next();
  return pcm;
}

/// A model with made-up pieces, which says little but blank.
template <class Model>
std::unique_ptr<Model> random_model(weights::storage& keep, dtype format, bool normalised) {
  auto m = std::make_unique<Model>();
  weights::randomise(*m, keep, 1, format);
  tokenizers::sentencepiece_vocabulary v;
  for (extent i = 0; i + 1 < m->embed.rows(); ++i) v.pieces.push_back(std::to_string(i));
  m->tokenizer = tokenizers::sentencepiece(std::move(v));
  const extent mels = m->encoder.input_size();
  frontends::nemo_mel_options o;
  o.mels = mels;
  m->frontend = {frontends::nemo_mel<Model::encoder_type::input>(o),
                 frontends::feature_norm<Model::encoder_type::input>(
                     mels, normalised ? frontends::normalisation::per_feature : frontends::normalisation::none)};
  const extent labels = m->embed.rows(), outputs = m->out.output_size();
  for (extent d = 0; d < outputs - labels; ++d) m->durations.push_back(static_cast<int>(d));
  auto* bias = reinterpret_cast<float*>(keep.allocate(static_cast<std::size_t>(outputs) * sizeof(float)));
  std::copy_n(m->out.b.floats(), outputs, bias);
  bias[labels - 1] += 4;
  m->out.b.data = reinterpret_cast<const std::byte*>(bias);
  models::keep_weights(*m, nullptr, keep, {});
  return m;
}

void tdt_encoder(benchmark::State& bench, dtype format) {
  weights::storage keep;
  const auto m = random_model<nemo::parakeet_tdt_06b_v3>(keep, format, true);
  const auto pcm = noise(16000 * seconds);
  context c;
  const extent n = m->frames(static_cast<extent>(pcm.size()));
  matrix<float, dynamic, 1024> rows(n, 1024);
  const double t = static_cast<double>(n), d = 1024;
  // per layer: two feed-forward parts, attention's four products, distances, the convolution's three
  const double products = 24 * 2 * d * d * (t * (4 * 4 + 4 + 3) + 2 * t - 1), attention = 24 * 2 * 3 * t * t * d;
  steno_bench::measure(bench, steno_bench::layer_work(products, attention, format, static_cast<double>(seconds)),
                       [&] { m->encode(pcm, rows, c); });
}

/// Rows of `seconds` in which about so many labels are emitted: none as in a pause, four a second as in speech.
void tdt_search(benchmark::State& bench, dtype format, std::size_t labels) {
  weights::storage keep;
  const auto m = random_model<nemo::parakeet_tdt_06b_v3>(keep, format, true);
  context c;
  matrix<float, dynamic, 1024> rows(16000 * seconds / 160 / 8, 1024);
  weights::random_numbers next(5);
  for (extent i = 0; i < rows.size(); ++i) rows.data()[i] = 1.7f * next();
  std::size_t emitted = 0;
  const auto search = [&] {
    auto found = m->begin(c);
    m->advance(found, rows, 0, m->max_symbols, c);
    emitted = found.tokens.size();
  };
  auto* const blank = reinterpret_cast<float*>(const_cast<std::byte*>(m->out.b.data)) + m->blank();
  for (search(); emitted < labels; search()) *blank -= 0.02f;
  steno_bench::measure(bench, {.audio = static_cast<double>(seconds)}, search);
  bench.counters["labels"] = static_cast<double>(emitted);
}

/// One step of the stream: `chunk` rows of 80 ms.
void eou_step(benchmark::State& bench, dtype format, extent chunk) {
  weights::storage keep;
  auto m = random_model<nemo::parakeet_realtime_eou_120m>(keep, format, false);
  m->window = {.chunk = chunk, .left = 70 / chunk};
  m->windows = {m->window};
  const auto pcm = noise(static_cast<std::size_t>(1280 * chunk));
  context c;
  nemo::parakeet_stream<nemo::parakeet_realtime_eou_120m> stream(*m, {}, c);
  const auto sink = [](const nemo::parakeet_event&) {};
  for (extent i = 0; i < 120 / chunk; ++i) stream.push(pcm, c, sink);  // the cache of 70 rows is full
  // All weights of the encoder are read once for a step.
  const double bytes = 17 * 23.0 * 512 * 512 * static_cast<double>(core::bytes_of(format, 32)) / 32;
  steno_bench::measure(bench, {.bytes = bytes, .from_memory = true, .audio = 0.08 * static_cast<double>(chunk)},
                       [&] { stream.push(pcm, c, sink); });
}

}  // namespace

BENCHMARK_CAPTURE(tdt_encoder, q8_0, dtype::q8_0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tdt_encoder, q8_128, dtype::q8_128)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tdt_encoder, q4_0, dtype::q4_0)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tdt_search, q8_0_pause, dtype::q8_0, std::size_t{0})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tdt_search, q8_0_speech, dtype::q8_0, std::size_t{80})->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(eou_step, 160ms_q8_0, dtype::q8_0, 2)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(eou_step, 80ms_q8_0, dtype::q8_0, 1)->Unit(benchmark::kMillisecond);

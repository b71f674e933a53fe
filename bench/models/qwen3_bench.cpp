// Qwen3-ASR 0.6B at full size with random weights, one thread: the audio tower on 10 s, a prompt of 146 rows, and one
// token after it, in the formats that people use. The figures to look at are milliseconds
// (docs/measurements/models.md); a token is as fast as its weights are read.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/load.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/weights/random.hpp>

#include <benchmark/benchmark.h>

#include <memory>
#include <optional>

#include "model_work.hpp"

using namespace steno;

namespace {

using tower = nn::qwen3_audio_encoder<128, 896, 14, 3584, 480, 1024, 18>;
using decoder = nn::qwen3_decoder<nn::qwen3_text_sizes{.width = 1024,
                                                       .heads = 16,
                                                       .key_heads = 8,
                                                       .head_width = 128,
                                                       .units = 3072,
                                                       .layers = 28,
                                                       .vocabulary = 151936,
                                                       .outputs = 151936,
                                                       .rope_theta = 1000000}>;

template <class Net>
struct random_net {
  explicit random_net(dtype f) : format(f) {
    weights::randomise(*net, keep, 1, f);
    models::keep_weights(*net, nullptr, keep, {});
  }
  dtype format;
  weights::storage keep;
  std::unique_ptr<Net> net = std::make_unique<Net>();
};
/// Making numbers takes longer than measuring: a net is kept until another format is asked for.
template <class Net>
const Net& net_of(dtype format) {
  static std::unique_ptr<random_net<Net>> kept;
  if (!kept || kept->format != format) {
    kept.reset();
    kept = std::make_unique<random_net<Net>>(format);
  }
  return *kept->net;
}

constexpr double layer_weights = 1024.0 * (2048 + 2 * 1024 + 2048 + 3 * 3072);

void audio_10s(benchmark::State& state, dtype format) {
  const tower& net = net_of<tower>(format);
  const matrix<float, dynamic, 128> x = matrix<float, dynamic, 128>::Random(1000, 128);
  matrix<float, dynamic, 1024> y(net.rows(1000), 1024);
  context c;
  const double t = static_cast<double>(y.rows());
  const double stem = 10 * 2 * (800.0 * 480 * 4320 + 208.0 * 480 * 4320 + 13 * 7680 * 896.0);
  const double layers = 18 * 2 * t * (4 * 896.0 * 896 + 2 * 896.0 * 3584);
  auto w = steno_bench::layer_work(stem + layers, 18 * 4 * 896 * (104 * 104 + 26 * 26.0), format);
  w.audio = 10;
  steno_bench::measure(state, w, [&] { net(x, y, nullptr, nn::qwen3_audio_env{}, c); });
}

void prompt_146(benchmark::State& state, dtype format) {
  const decoder& net = net_of<decoder>(format);
  const matrix<float, dynamic, 1024> rows = matrix<float, dynamic, 1024>::Random(146, 1024);
  matrix<float, dynamic, 1024> x(146, 1024);
  nn::qwen3_decoder_state text;
  text.sequences.format = net.cache_format();
  context c;
  steno_bench::measure(state,
                       steno_bench::layer_work(28 * 2 * 146 * layer_weights, 28 * 2 * 2048 * 146.0 * 146, format), [&] {
                         x = rows;
                         text.rewind(0);
                         net(x, text, c);
                       });
}

void token(benchmark::State& state, dtype format, extent length = 146, std::optional<dtype> cache = std::nullopt) {
  const decoder& net = net_of<decoder>(format);
  matrix<float, dynamic, 1024> x = matrix<float, dynamic, 1024>::Random(length, 1024);
  matrix<float, dynamic, dynamic> scores(1, 151936);
  nn::qwen3_decoder_state text;
  text.sequences.format = cache.value_or(net.cache_format());
  context c;
  net(x, text, c);
  steno_bench::work w;
  w.bytes =
      static_cast<double>(core::bytes_of(format, static_cast<std::size_t>(28 * layer_weights + 151936.0 * 1024))) +
      static_cast<double>(28 * 8 * 2 * length) *
          static_cast<double>(kernels::cached_row_bytes(text.sequences.format, 128));
  w.from_memory = true;
  const matrix<float, dynamic, dynamic> last = x.bottomRows(1);
  steno_bench::measure(state, w, [&] {
    text.rewind(length);
    x.bottomRows(1) = last;
    net(view<float, dynamic, 1024>(x.bottomRows(1)), text, c);
    net.logits(core::as<const float, dynamic, 1024>(x.bottomRows(1)), core::as<float, dynamic, 151936>(scores), c);
  });
}

// 64 tokens after the prompt; `repeats`: a text that says what an earlier one said, token by token.
void text_64(benchmark::State& state, dtype format, bool repeats) {
  const decoder& net = net_of<decoder>(format);
  matrix<float, dynamic, 1024> x = matrix<float, dynamic, 1024>::Random(146, 1024);
  nn::qwen3_decoder_state text;
  text.sequences.format = net.cache_format();
  context c;
  net(x, text, c);
  const matrix<float, dynamic, 1024> last = x.bottomRows(1);
  const auto write = [&](std::span<const int> earlier) {
    text.rewind(146);
    x.bottomRows(1) = last;
    return nn::qwen3_write(net, view<float, dynamic, 1024>(x.bottomRows(1)), text,
                           {.max_tokens = 64, .stop_loops = false, .speculative = repeats, .earlier = earlier}, c)
        .ids;
  };
  const std::vector<int> earlier = write({});
  steno_bench::measure(state, {}, [&] { write(earlier); });
}

}  // namespace

#define STENO_BENCH(what, format) BENCHMARK_CAPTURE(what, format, dtype::format)->Unit(benchmark::kMillisecond)
STENO_BENCH(audio_10s, q8_0);
STENO_BENCH(audio_10s, bf16);
// By format, so that the numbers of a net are made once.
STENO_BENCH(prompt_146, q8_0);
STENO_BENCH(token, q8_0);
BENCHMARK_CAPTURE(text_64, q8_0, dtype::q8_0, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(text_64, q8_0_repeated, dtype::q8_0, true)->Unit(benchmark::kMillisecond);
STENO_BENCH(prompt_146, q8_128);
STENO_BENCH(token, q8_128);
STENO_BENCH(prompt_146, bf16_a16);
STENO_BENCH(token, bf16_a16);
STENO_BENCH(prompt_146, bf16);
STENO_BENCH(token, bf16);
BENCHMARK_CAPTURE(text_64, bf16, dtype::bf16, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(text_64, bf16_repeated, dtype::bf16, true)->Unit(benchmark::kMillisecond);
STENO_BENCH(prompt_146, q4_0);
STENO_BENCH(token, q4_0);
STENO_BENCH(prompt_146, q4_k);
STENO_BENCH(token, q4_k);
// Behind 1000 tokens keys and values count: 115 KB a token as halves, 65 as bytes.
BENCHMARK_CAPTURE(token, q8_0_behind_1000_in_f16, dtype::q8_0, 1000, dtype::f16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(token, q8_0_behind_1000_in_q8_0, dtype::q8_0, 1000, dtype::q8_0)->Unit(benchmark::kMillisecond);

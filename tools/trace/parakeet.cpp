// Parakeet and Nemotron: the stages of the encoder as they are, those of single steps put one under another; of a model
// that streams with caches also its streams, all chunks under one another, with the caches behind each of them; of one
// that looks behind the chunks of a stream (parakeet-unified) streams of some sizes, and of one of them every window.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/pipelines/parakeet.hpp>
#include <steno/streaming/parakeet_stream.hpp>
#include <steno/streaming/parakeet_window_stream.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "families.hpp"
#include "stages/nemo.hpp"

namespace steno::trace {

namespace {

// Rows of "step.NAME" by name; a state of several layers becomes [steps, layers, width].
class step_rows {
 public:
  void add(std::string_view name, const view<const float>& x) {
    std::vector<float>& all = rows_[std::string(name)];
    for (extent t = 0; t < x.rows(); ++t)
      all.insert(all.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
    widths_[std::string(name)] = x.cols();
  }
  void write(const job& j, extent layers) const {
    for (const auto& [name, values] : rows_) {
      const std::int64_t width = widths_.at(name), count = static_cast<std::int64_t>(values.size()) / width;
      if (name.starts_with("lstm_"))
        j.write(name, values, {count, layers, width / layers});
      else
        j.write(name, values, {count, width});
    }
  }

 private:
  std::map<std::string, std::vector<float>> rows_;
  std::map<std::string, std::int64_t> widths_;
};

// NeMo's `cache_last_channel` [layers, rows, D] holds what went into the attention, the newest row last, and
// `cache_last_time` [layers, D, taps - 1] what went into the depthwise convolution.
class stream_trace {
 public:
  stream_trace(const nemo::parakeet_transducer_any& m, const job& j, std::string name, const nn::attention_window& w,
               nemo::parakeet_stream_options o)
      : m_(m),
        j_(j),
        name_(std::move(name)),
        kept_(w.left * w.chunk),
        options_(std::move(o)),
        inputs_(m.encoder.get<"layers">().layers.size()) {}

  void run(std::span<const float> pcm) {
    const auto sink = [this](std::string_view path, const view<const float>& x) { see(path, x); };
    context c(j_.run);
    nemo::parakeet_stream<nemo::parakeet_transducer_any> stream(m_, options_, c);
    live_ = &stream;
    c.trace_to(core::tracer(sink));
    const auto ignore = [](const nemo::parakeet_event&) {};
    stream.push(pcm, c, ignore);
    stream.finish(c, ignore);
    write_rows("encoder_out", rows_);
    write_rows("prompted", prompted_);
  }

 private:
  using encoder = nemo::parakeet_transducer_any::encoder_type;
  using block = nn::fastconformer_block<dynamic, dynamic, dynamic, dynamic>;

  static void append(std::vector<float>& to, const view<const float>& x) {
    for (extent t = 0; t < x.rows(); ++t)
      to.insert(to.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
  }
  void write_rows(const char* stage, const std::vector<float>& rows) const {
    const extent d = m_.encoder.output_size();
    if (!rows.empty())
      j_.write(name_ + "_" + stage, core::make_view(rows.data(), static_cast<extent>(rows.size()) / d, d));
  }
  void see(std::string_view path, const view<const float>& x) {
    constexpr std::string_view front = "stream.layers.", back = ".norm_self_att";
    if (path == "stream.encoder_out") append(rows_, x);
    if (path == "stream.prompted") append(prompted_, x);
    if (path == "joint_enc_proj") write_caches();  // between the encoder and the search
    if (path.starts_with(front) && path.ends_with(back))
      append(inputs_.at(std::stoul(std::string(path.substr(front.size())))), x);
  }
  void write_caches() {
    const std::string name = name_ + "_chunk" + std::to_string(chunk_++) + "_cache_last_";
    const extent d = m_.encoder.output_size(), kept = kept_;
    const auto layers = static_cast<extent>(inputs_.size());
    std::vector<float> channel(static_cast<std::size_t>(layers * kept * d)), time;
    extent taps = 0;
    for (std::size_t l = 0; l < inputs_.size(); ++l) {
      std::vector<float>& in = inputs_[l];
      const auto size = static_cast<std::size_t>(kept * d);
      if (in.size() > size) in.erase(in.begin(), in.end() - static_cast<std::ptrdiff_t>(size));
      std::copy(in.begin(), in.end(), channel.begin() + static_cast<std::ptrdiff_t>((l + 1) * size - in.size()));
      const auto& convolution = block::get<"conv">(encoder::get<"layers">(live_->state())[l]);
      taps = static_cast<extent>(convolution.size()) / d;
      for (extent i = 0; i < d; ++i)
        for (extent t = 0; t < taps; ++t) time.push_back(convolution[static_cast<std::size_t>(t * d + i)]);
    }
    j_.write(name + "channel", channel, {layers, kept, d});
    j_.write(name + "time", time, {layers, d, taps});
  }

  const nemo::parakeet_transducer_any& m_;
  const job& j_;
  std::string name_;
  extent kept_;
  nemo::parakeet_stream_options options_;
  const nemo::parakeet_stream<nemo::parakeet_transducer_any>* live_ = nullptr;
  std::vector<std::vector<float>> inputs_;  // of every attention, as far back as it looks
  std::vector<float> rows_, prompted_;
  std::size_t chunk_ = 0;
};

// Streams with caches, one for each window that the model was trained with, or for the one that was asked for.
void trace_cached(const nemo::parakeet_transducer_any& m, const job& j, std::span<const float> pcm,
                  const std::string& language, std::optional<int> look_ahead) {
  for (const nn::attention_window& w : m.windows) {
    if (w.chunk <= 0 || w.left < 0 || (look_ahead && nemo::look_ahead_of(w) != *look_ahead)) continue;
    const bool several = m.windows.size() > 1 || !m.prompts.empty();
    const std::string sizes = "_" + std::to_string(w.left * w.chunk) + "_" + std::to_string(w.chunk - 1);
    nemo::parakeet_stream_options o{.look_ahead = static_cast<int>(w.chunk - 1), .language = language};
    stream_trace(m, j, "stream" + (several ? sizes : ""), w, o).run(pcm);
  }
}

// What a row of a window of `n` rows may look at: 1.
void write_mask(const job& j, const std::string& name, extent n, const nn::attention_window& w) {
  std::vector<float> mask(static_cast<std::size_t>(n * n));
  nn::each_attention_block(n, n, w, n, [&](const nn::attention_block& b) {
    for (extent t = b.first; t < b.first + b.count; ++t)
      std::fill(mask.begin() + t * n + b.from, mask.begin() + t * n + b.to, 1.0f);
  });
  j.write(name, mask, {n, n});
}

using window_stream = nemo::parakeet_window_stream<nemo::parakeet_transducer_any>;

// A stream in windows: the rows that count under one another, and where `windows` says so every window by itself.
void trace_windows(const nemo::parakeet_transducer_any& m, const job& j, std::span<const float> pcm,
                   const nemo::window_rows& rows, bool masked, bool windows) {
  const nemo::parakeet_encoding how = masked ? window_stream::encoding_of(m, rows) : nemo::parakeet_encoding{};
  std::vector<float> decoded;
  extent number = 0;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = "window" + std::to_string(number) + "_";
    if (windows && path == "logmel") j.write(name + "logmel", x);
    if (windows && path == "encoder.encoder_out") {
      j.write(name + "encoder_out", x);
      if (how.window) write_mask(j, name + "mask", x.rows(), *how.window);
    }
    if (path != "stream.encoder_out") return;
    for (extent t = 0; t < x.rows(); ++t)
      decoded.insert(decoded.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
    ++number;
  };
  context c(j.run, core::tracer(sink));
  window_stream stream(m, rows, how, c);
  const auto ignore = [](const nemo::parakeet_window_event&) {};
  stream.push(pcm, c, ignore);
  stream.finish(c, ignore);
  if (decoded.empty()) return;
  const extent d = m.encoder.output_size();
  j.write("stream_" + std::to_string(rows.left) + "_" + std::to_string(rows.middle) + "_" + std::to_string(rows.right) +
              (masked ? "" : "_unmasked") + "_encoder_out",
          core::make_view(static_cast<const float*>(decoded.data()), static_cast<extent>(decoded.size()) / d, d));
}

// The sizes that were asked for, or those that recordings show most of (7 rows and 7 behind them), of which every
// window is written, and those of each chunk that looks as far behind it as it is long, or half as far.
void trace_unified(const nemo::parakeet_transducer_any& m, const job& j, std::span<const float> pcm,
                   const std::array<std::int64_t, 3>& asked, bool masked) {
  const auto has = [](const std::vector<int>& all, std::int64_t n) {
    return std::find(all.begin(), all.end(), n) != all.end();
  };
  nemo::window_rows main = window_stream::rows_of(m);
  if (has(m.stream_windows.chunk, 7) && has(m.stream_windows.right, 7)) main.middle = main.right = 7;
  const bool chosen = std::any_of(asked.begin(), asked.end(), [](std::int64_t n) { return n >= 0; });
  extent* const sizes[] = {&main.left, &main.middle, &main.right};
  for (std::size_t i = 0; i < asked.size(); ++i)
    if (asked[i] >= 0) *sizes[i] = std::max<extent>(asked[i], i == 1 ? 1 : 0);
  trace_windows(m, j, pcm, main, masked, true);
  if (chosen) return;
  if (masked) trace_windows(m, j, pcm, main, false, false);
  for (const int chunk : m.stream_windows.chunk)
    for (const int right : {chunk, chunk / 2}) {
      nemo::window_rows other = main;
      other.middle = chunk;
      other.right = right;
      if (has(m.stream_windows.right, right) && (other.middle != main.middle || other.right != main.right))
        trace_windows(m, j, pcm, other, masked, false);
    }
}

}  // namespace

void parakeet_ctc(job& j) {
  const auto model = load<nemo::parakeet_ctc_any>(std::move(j.file));
  j.set.finish();
  const auto sink = j.sink(stages::nemo);
  context c(j.run, core::tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), {}, c);
}

void parakeet_transducer(job& j) {
  const auto model = load<nemo::parakeet_transducer_any>(std::move(j.file));
  nemo::parakeet_transducer_options options{.max_symbols = j.set.take_number("max_symbols", 0),
                                            .language = j.set.take("language", "auto")};
  const std::int64_t look_ahead = j.set.take_number("look_ahead", -1);
  const std::array<std::int64_t, 3> sizes{j.set.take_number("left_context", -1), j.set.take_number("chunk_size", -1),
                                          look_ahead};
  const bool masked = j.set.take_flag("mask", true);
  j.set.finish();
  if (look_ahead >= 0 && model.windows.size() > 1) options.look_ahead = static_cast<int>(look_ahead);
  step_rows steps;
  std::vector<float> rows;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (path == "encoder.encoder_out") {
      rows.clear();
      for (extent t = 0; t < x.rows(); ++t)
        rows.insert(rows.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
    }
    if (path.starts_with("step."))
      steps.add(path.substr(5), x);
    else if (path == "prompted")
      j.write("prompted_" + options.language, x);
    else
      j.write(stages::nemo(path), x);
  };
  context c(j.run, core::tracer(sink));
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  (void)model.recognise(pcm, options, c);
  steps.write(j, model.predictor.depth.get());
  for (std::size_t i = 0; i < model.prompts.names.size(); ++i) {  // what other languages would make of the rows
    if (model.prompts.names[i] == options.language || rows.empty()) continue;
    std::vector<float> other = rows;
    context quiet(j.run);
    const extent d = model.encoder.output_size();
    const auto x = core::make_view(other.data(), static_cast<extent>(other.size()) / d, d);
    model.prompt(x, model.prompts.numbers[i], quiet);
    j.write("prompted_" + model.prompts.names[i], core::read(x));
  }
  if (nemo::parakeet_stream<nemo::parakeet_transducer_any>::obstacle(model) == nullptr)
    trace_cached(model, j, pcm, options.language, options.look_ahead);
  if (!model.stream_windows.empty()) trace_unified(model, j, pcm, sizes, masked);
}

const family of_parakeet_ctc("parakeet_ctc", "none", parakeet_ctc);
const family of_parakeet_transducer(
    "parakeet_transducer", "max_symbols=0, language=auto, look_ahead=3, chunk_size=7, left_context=70, mask=true",
    parakeet_transducer);

}  // namespace steno::trace

// Parakeet: the stages of the encoder as they are, those of single steps put one under another; of a model that streams
// with caches also its stream, all chunks under one another, with the caches behind each of them.
#include <steno/models/parakeet_ctc.hpp>
#include <steno/models/parakeet_transducer.hpp>
#include <steno/streaming/parakeet_stream.hpp>

#include <algorithm>
#include <map>
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
  stream_trace(const nemo::parakeet_transducer_any& m, const job& j)
      : m_(m), j_(j), inputs_(m.encoder.get<"layers">().layers.size()) {}

  void run(std::span<const float> pcm) {
    const auto sink = [this](std::string_view path, const view<const float>& x) { see(path, x); };
    context c(j_.run);
    nemo::parakeet_stream<nemo::parakeet_transducer_any> stream(m_, {}, c);
    live_ = &stream;
    c.trace_to(core::tracer(sink));
    const auto ignore = [](const nemo::parakeet_event&) {};
    stream.push(pcm, c, ignore);
    stream.finish(c, ignore);
    const extent d = m_.encoder.output_size();
    if (!rows_.empty())
      j_.write("stream_encoder_out",
               core::make_view(static_cast<const float*>(rows_.data()), static_cast<extent>(rows_.size()) / d, d));
  }

 private:
  using encoder = nemo::parakeet_transducer_any::encoder_type;
  using block = nn::fastconformer_block<dynamic, dynamic, dynamic, dynamic>;

  static void append(std::vector<float>& to, const view<const float>& x) {
    for (extent t = 0; t < x.rows(); ++t)
      to.insert(to.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
  }
  void see(std::string_view path, const view<const float>& x) {
    constexpr std::string_view front = "stream.layers.", back = ".norm_self_att";
    if (path == "stream.encoder_out") append(rows_, x);
    if (path == "joint_enc_proj") write_caches();  // between the encoder and the search
    if (path.starts_with(front) && path.ends_with(back))
      append(inputs_.at(std::stoul(std::string(path.substr(front.size())))), x);
  }
  void write_caches() {
    const std::string name = "stream_chunk" + std::to_string(chunk_++) + "_cache_last_";
    const extent d = m_.encoder.output_size(), kept = m_.window.left * m_.window.chunk;
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
  const nemo::parakeet_stream<nemo::parakeet_transducer_any>* live_ = nullptr;
  std::vector<std::vector<float>> inputs_;  // of every attention, as far back as it looks
  std::vector<float> rows_;
  std::size_t chunk_ = 0;
};

}  // namespace

void parakeet_ctc(job& j) {
  const auto model = load<nemo::parakeet_ctc_any>(std::move(j.file), {}, std::move(j.image));
  j.set.finish();
  const auto sink = j.sink(stages::nemo);
  context c(j.run, core::tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), {}, c);
}

void parakeet_transducer(job& j) {
  const auto model = load<nemo::parakeet_transducer_any>(std::move(j.file), {}, std::move(j.image));
  const nemo::parakeet_transducer_options options{.max_symbols = j.set.take_number("max_symbols", 0)};
  j.set.finish();
  step_rows steps;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (path.starts_with("step."))
      steps.add(path.substr(5), x);
    else
      j.write(stages::nemo(path), x);
  };
  context c(j.run, core::tracer(sink));
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  (void)model.recognise(pcm, options, c);
  steps.write(j, model.predictor.depth.get());
  if (nemo::parakeet_stream<nemo::parakeet_transducer_any>::obstacle(model) == nullptr) stream_trace(model, j).run(pcm);
}

const family of_parakeet_ctc("parakeet_ctc", "none", parakeet_ctc);
const family of_parakeet_transducer("parakeet_transducer", "max_symbols=0", parakeet_transducer);

}  // namespace steno::trace

// The stages of U2 models: the whole clip, both decoders over its n-best list, and chunk by chunk with caches.
//
// Without --set the streams of the golden cases are run: chunk 16 with all chunks before, and for models trained for
// streaming also other sizes. Stages that the cases keep in part (cmvn, subsampling_conv, attention_steps) are cut
// alike.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/u2.hpp>
#include <steno/pipelines/u2.hpp>

#include <cstring>
#include <string>
#include <utility>

#include "families.hpp"
#include "stages/u2.hpp"

namespace steno::trace {

namespace {

template <class Model>
class u2_trace {
 public:
  u2_trace(const Model& m, const job& j) : m_(m), j_(j), c_(j.run) {}

  void whole(std::span<const float> pcm) {
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      const std::string name = stages::u2(path);
      if (name == "attention_step") return;
      if (name == "cmvn") return j_.write(name, core::read(x.topRows(std::min<extent>(x.rows(), 40))));
      if (name != "subsampling_conv") return j_.write(name, x);
      const extent shown = std::min<extent>(rows_.rows(), 8);
      j_.write(name, std::span(x.data(), static_cast<std::size_t>(x.size())), {x.rows(), shown, x.cols() / shown});
    };
    c_.trace_to(core::tracer(sink));
    const extent n = m_.frames(static_cast<extent>(pcm.size()));
    rows_.resize(n, m_.encoder.output_size());
    matrix<float, dynamic, dynamic> scores(n, m_.tokenizer.size());
    m_.encode(pcm, rows_, {}, c_);
    m_.score(rows_, 0, scores, c_);
    c_.trace_to({});
    search::ctc_prefix_beam search({.blank = m_.blank});
    search.advance(core::read(scores));
    for (extent i = 0; i < search.size(); ++i) nbest_.push_back(search.hypothesis(i));
    decoder("decoder_logprobs", m_.decoder, false);
    if (m_.bidirectional.get() != 0) decoder("r_decoder_logprobs", m_.reverse_decoder, true);
    attention();
  }

  void stream(const view<const float>& x, extent chunk, extent left) {
    const std::string name =
        "stream_c" + std::to_string(chunk) + "_l" + (left < 0 ? std::string("all") : std::to_string(left)) + "_";
    auto state = m_.encoder.start();
    const extent rate = m_.encoder.template get<"embed">().rate.get(),
                 window = m_.encoder.template get<"embed">().right_context() + 1;
    const extent d = m_.encoder.output_size();
    std::vector<float> rows, scores;
    bool first = true;
    std::vector<std::vector<float>> inputs(
        m_.encoder.template get<"encoders">().layers.size());  // of the convolutions, all so far
    const auto sink = [&](std::string_view path, const view<const float>& y) {
      constexpr std::string_view front = "encoders.", back = ".norm_conv";
      if (!path.starts_with(front) || !path.ends_with(back)) return;
      path.remove_prefix(front.size());
      std::vector<float>& to = inputs.at(std::stoul(std::string(path)));
      for (extent t = 0; t < y.rows(); ++t)
        to.insert(to.end(), y.data() + t * y.outerStride(), y.data() + t * y.outerStride() + y.cols());
    };
    for (extent at = 0; at + window <= x.rows(); at += chunk * rate) {
      const extent frames = std::min((chunk - 1) * rate + window, x.rows() - at), n = m_.encoder.rows(frames);
      matrix<float, dynamic, dynamic> y(n, d), p(n, m_.tokenizer.size());
      c_.trace_to(core::tracer(sink));
      m_.encoder(core::read(x.middleRows(at, frames)), y, &state, nn::u2_env{.keep = left < 0 ? -1 : left * chunk}, c_);
      c_.trace_to({});
      m_.score(y, 0, p, c_);
      rows.insert(rows.end(), y.data(), y.data() + y.size());
      scores.insert(scores.end(), p.data(), p.data() + p.size());
      if (std::exchange(first, false)) write_attention(name + "att_cache_after1", state);
    }
    write(name + "encoder_out", rows, d);
    write(name + "ctc_logprobs", scores, m_.tokenizer.size());
    write_attention(name + "att_cache", state);
    write_convolution(name + "cnn_cache", state, inputs);
  }

 private:
  using encoder = typename Model::encoder_type;
  using block = std::remove_cvref_t<decltype(std::declval<encoder&>().template get<"encoders">().layers[0])>;

  void write(const std::string& name, const std::vector<float>& values, extent cols) {
    if (!values.empty())
      j_.write(name, core::make_view(values.data(), static_cast<extent>(values.size()) / cols, cols));
  }

  // [3, L + 1, units] as rows; what lies behind a hypothesis' end is zero.
  template <class Decoder>
  void decoder(const char* name, const Decoder& d, bool reversed) {
    const std::size_t shown = std::min<std::size_t>(nbest_.size(), 3);
    extent longest = 0;
    for (std::size_t i = 0; i < nbest_.size(); ++i)
      longest = std::max(longest, static_cast<extent>(nbest_[i].ids.size()) + 1);
    const extent units = m_.tokenizer.size();
    std::vector<float> all(shown * static_cast<std::size_t>(longest * units));
    m_.decoder_scores(d, core::read(rows_), nbest_, reversed, c_,
                      [&](const view<const float>& y, std::span<const extent> begin) {
                        for (std::size_t i = 0; i < shown; ++i)
                          std::copy_n(y.data() + begin[i] * units, (begin[i + 1] - begin[i]) * units,
                                      all.data() + static_cast<extent>(i) * longest * units);
                      });
    j_.write(name, all, {static_cast<extent>(shown), longest, units});
  }
  void attention() {
    std::vector<float> steps;
    extent step = 0, beams = 0;
    const auto sink = [&](std::string_view path, const view<const float>& x) {
      if (path != "attention_step" || step++ >= 4) return;
      beams = x.rows();
      for (extent t = 0; t < x.rows(); ++t) {
        const float* row = x.data() + t * x.outerStride();
        steps.insert(steps.end(), row, row + x.cols());
      }
    };
    c_.trace_to(core::tracer(sink));
    if (rows_.rows() > 0) (void)m_.attend(core::read(rows_), 10, 0, c_);
    c_.trace_to({});
    if (beams > 0) j_.write("attention_steps", steps, {std::min<extent>(step, 4), beams, m_.tokenizer.size()});
  }

  // [layers, heads, t, 2 d], keys before values.
  template <class State>
  void write_attention(const std::string& name, const State& s) {
    std::vector<float> all;
    extent each = 0, heads = 0, rows = 0;
    const auto& blocks = encoder::template get<"encoders">(s);
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const nn::kv_cache& cache = block::template get<"self_attn">(blocks[i]).cache;
      heads = cache.heads();
      rows = cache.rows();
      const extent wide = cache.value_width();  // keys have their positions behind them
      each = 2 * wide;
      for (extent h = 0; h < heads; ++h)
        for (extent t = 0; t < rows; ++t) {
          const float* const key = cache.keys().data() + h * cache.key_head_stride() + t * cache.key_width();
          const float* const value = cache.values().data() + h * cache.value_head_stride() + t * wide;
          all.insert(all.end(), key, key + wide);
          all.insert(all.end(), value, value + wide);
        }
    }
    if (!all.empty()) j_.write(name, all, {static_cast<extent>(blocks.size()), heads, rows, each});
  }
  // [layers, 1, D, taps - 1]: what went into pointwise_conv1, zeros before the first row. (Ours keeps what comes out of
  // it, which is the same to the layer.)
  template <class State>
  void write_convolution(const std::string& name, const State& s, const std::vector<std::vector<float>>& inputs) {
    std::vector<float> all;
    extent taps = 0;
    const extent d = m_.encoder.output_size();
    const auto& blocks = encoder::template get<"encoders">(s);
    for (std::size_t l = 0; l < blocks.size(); ++l)
      if constexpr (block::template has<"conv_module">()) {
        taps = static_cast<extent>(block::template get<"conv_module">(blocks[l]).size()) / d;
        const extent rows = static_cast<extent>(inputs[l].size()) / d;
        for (extent i = 0; i < d; ++i)
          for (extent t = rows - taps; t < rows; ++t)
            all.push_back(t < 0 ? 0 : inputs[l][static_cast<std::size_t>(t * d + i)]);
      }
    if (taps > 0) j_.write(name, all, {static_cast<extent>(blocks.size()), 1, d, taps});
  }

  const Model& m_;
  const job& j_;
  context c_;
  matrix<float, dynamic, dynamic> rows_;
  std::vector<search::ctc_hypothesis> nbest_;
};

template <class Model>
void run(job& j) {
  const auto model = load<Model>(std::move(j.file));
  const std::int64_t chunk = j.set.take_number("chunk_size", 0), left = j.set.take_number("num_left_chunks", -1);
  j.set.finish();
  if (chunk < 0 || chunk > 100000) fail({.what = "--set chunk_size", .expected = "1 to 100000"});
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  u2_trace<Model> t(model, j);
  t.whole(pcm);
  context c(j.run);
  matrix<float, dynamic, dynamic> x(model.frontend.rows(static_cast<extent>(pcm.size())), model.frontend.width());
  model.frontend(pcm, x, c);
  if (chunk > 0) return t.stream(core::read(x), chunk, left);
  t.stream(core::read(x), 16, -1);
  if (!model.streams) return;
  const extent few = model.encoder.template get<"embed">().rate.get() == 4 ? 5 : 4;
  for (const auto& [size, before] : {std::pair<extent, extent>{16, 2}, {few, -1}, {few, 3}})
    t.stream(core::read(x), size, before);
}

}  // namespace

void u2_conformer(job& j) { run<wenet::u2_conformer_any>(j); }
void u2_transformer(job& j) { run<wenet::u2_transformer_any>(j); }

const family of_u2_conformer("u2_conformer", "chunk_size=16, num_left_chunks=-1", u2_conformer);
const family of_u2_transformer("u2_transformer", "chunk_size=16, num_left_chunks=-1", u2_transformer);

}  // namespace steno::trace

// The stages of Qwen3-ASR (audio tower, prompt, the scores of every token that is written) and of its forced aligner.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/qwen3_aligner.hpp>
#include <steno/models/qwen3_asr.hpp>
#include <steno/pipelines/qwen3_asr.hpp>

#include "families.hpp"
#include "stages/qwen3.hpp"

namespace steno::trace {

void qwen3_asr(job& j) {
  auto model = load<qwen3::qwen3_asr_any>(std::move(j.file));
  const std::string about = j.set.take("context", ""), language = model.language_name(j.set.take("language", ""));
  const auto max_new_tokens = static_cast<int>(j.set.take_number("max_new_tokens", 4096));
  j.set.finish();
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);

  const extent channels = model.audio_tower.stem.convolutions.get<"conv2d3">().channels_out();
  const extent each = model.audio_tower.chunk_rows(), last = model.audio_tower.behind.get<"layers">().size() - 1;
  std::vector<float> path;
  bool prompt = true;  // until the first scores
  const auto sink = [&](std::string_view stage, const view<const float>& x) {
    std::string name = stages::qwen3(stage);
    if (name == "logits") {
      const auto row = x.bottomRows(1);
      if (prompt)
        j.write("logits_last_prefill", std::span(row.data(), static_cast<std::size_t>(row.size())), {row.size()});
      prompt = false;
      path.insert(path.end(), row.data(), row.data() + row.cols());
    }
    if (!prompt || name.empty()) return;
    const std::span<const float> values(x.data(), static_cast<std::size_t>(x.size()));
    if (name == "conv3_per_chunk") {
      const extent rows = std::min(each, model.audio_rows(static_cast<extent>(pcm.size())));
      return j.write(name, values, {x.rows(), channels, x.cols() / channels / rows, rows});
    }
    if (name == "conv_out_per_chunk") {
      const extent rows = std::min(each, x.rows());
      return j.write(name, values, {x.rows() / rows, rows, x.cols()});
    }
    j.write(name, x);
    if (name == std::string("encoder_layer").append(std::to_string(last))) j.write("encoder_last_layer", x);
  };
  context c(j.run, core::tracer(sink));
  nn::qwen3_decoder_state state;
  (void)model.write(pcm, model.prompt(about, language), language, {.max_new_tokens = max_new_tokens}, state, c);
  const extent wide = model.text.outputs();
  j.write("logits_greedy_path",
          core::make_view(std::as_const(path).data(), static_cast<extent>(path.size()) / wide, wide));
}

void qwen3_forced_aligner(job& j) {
  auto model = load<qwen3::qwen3_forced_aligner_any>(std::move(j.file));
  const std::string words = j.set.take("text", "");
  j.set.finish();
  if (words.empty()) fail({.what = "--set text=", .expected = "what is spoken in the recording"});
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  const extent each = model.audio_tower.chunk_rows();
  const auto sink = [&](std::string_view stage, const view<const float>& x) {
    std::string name = stages::qwen3(stage);
    if (name.ends_with("_prefill")) name.resize(name.size() - 8);
    if (name == "logits") name = "logits_at_timestamps";
    const extent rows = std::min(each, x.rows());
    if (name == "conv_out_per_chunk")
      j.write(name, std::span<const float>(x.data(), static_cast<std::size_t>(x.size())),
              {x.rows() / rows, rows, x.cols()});
    else if (!name.empty() && name != "conv3_per_chunk")
      j.write(name, x);
  };
  context c(j.run, core::tracer(sink));
  (void)model.align(pcm, words, c);
}

const family of_qwen3_asr("qwen3_asr", "context=TEXT, language=NAME, max_new_tokens=4096", qwen3_asr);
const family of_qwen3_forced_aligner("qwen3_forced_aligner", "text=WHAT IS SAID", qwen3_forced_aligner);

}  // namespace steno::trace

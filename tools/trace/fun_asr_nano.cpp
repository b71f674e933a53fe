// The stages of Fun-ASR-Nano's audio half, its prompt and its CTC head.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/half.hpp>
#include <steno/models/fun_asr_nano.hpp>
#include <steno/pipelines/fun_asr_nano.hpp>

#include "families.hpp"
#include "stages/fun_asr_nano.hpp"

namespace steno::trace {

void fun_asr_nano(job& j) {
  auto model = load<funasr::fun_asr_nano_any>(std::move(j.file));
  funasr::fun_asr_nano_options o;
  o.language = j.set.take("language", "");
  o.itn = j.set.take_flag("itn", true);
  const std::string words = j.set.take("hotwords", "");
  for (std::size_t at = 0; at < words.size();) {
    const std::size_t end = std::min(words.find(',', at), words.size());
    o.hotwords.push_back(words.substr(at, end - at));
    at = end + 1;
  }
  j.set.finish();
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    if (const std::string name = stages::fun_asr_nano(path); !name.empty()) j.write(name, x);
  };
  context c(j.run, core::tracer(sink));
  using rows = matrix<float, dynamic, dynamic>;
  const extent frames = model.frontend.rows(static_cast<extent>(pcm.size()));
  rows encoded(frames, model.audio_encoder.output_size());
  model.encode(pcm, encoded, c);
  const auto p = model.prompt(o);
  const extent audio = std::min(model.audio_tokens(frames), model.audio_adaptor.rows(frames));
  rows x(static_cast<extent>(p.before.size() + p.after.size()) + audio, model.llm.width());
  model.embed_prompt(p, encoded, x, c);
  // Until its language model was once in f32, the original's is in bf16, and so are the rows that it gets.
  rows rounded = x;
  for (extent i = 0; i < rounded.size(); ++i)
    rounded.data()[i] = core::bfloat_to_float(core::float_to_bfloat(rounded.data()[i]));
  j.write("inputs_embeds_first_call", rounded);
  if (!model.ctc_lo.w) return;
  rows scores(model.ctc_rows(frames), model.ctc_lo.output_size());
  model.score(encoded, scores, c);
}

const family of_fun_asr_nano("fun_asr_nano", "language=NAME, itn=true, hotwords=A,B", fun_asr_nano);

}  // namespace steno::trace

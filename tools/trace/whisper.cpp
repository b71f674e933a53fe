// The stages of Whisper: the first 30 s through encoder and decoder, other windows' features, the matrix of word times.
//
// The prompt is that of the golden cases (German, no times, " The quick") unless --set prompt= names ids; the text that
// is aligned is the one decoded without times.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/whisper.hpp>
#include <steno/models/whisper_transcribe.hpp>
#include <steno/pipelines/whisper.hpp>

#include "families.hpp"
#include "stages/whisper.hpp"

namespace steno::trace {

namespace {

using rows = matrix<float, dynamic, dynamic>;

std::vector<int> numbers(const std::string& list, const char* key) {
  std::vector<int> all;
  for (std::size_t at = 0; at < list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const std::string item = list.substr(at, end - at);
    if (item.empty() || item.size() > 6 || item.find_first_not_of("0123456789") != std::string::npos)
      fail({.what = std::string("--set ") + key, .expected = "numbers with commas between", .found = list});
    all.push_back(std::stoi(item));
    at = end + 1;
  }
  return all;
}

}  // namespace

void whisper(job& j) {
  auto model = load<whisper::whisper_any>(std::move(j.file));
  const tokenizers::whisper_tokens& t = model.tokenizer;
  std::vector<int> prompt = numbers(j.set.take("prompt", ""), "prompt");
  const std::vector<int> heads = numbers(j.set.take("alignment_heads", ""), "alignment_heads");
  j.set.finish();
  if (prompt.empty()) {
    prompt = t.start(t.multilingual ? t.find_language("de") : 0, false);
    prompt.push_back(t.no_timestamps);
    for (const int id : t.encode(" The quick")) prompt.push_back(id);
  }
  const auto too_long = static_cast<extent>(prompt.size()) > model.decoder.context_size();
  for (const int id : prompt)
    if (too_long || id >= model.decoder.vocabulary()) fail({.what = "--set prompt", .expected = "tokens of the model"});
  if (!heads.empty()) model.alignment_heads.clear();
  for (std::size_t i = 0; i + 1 < heads.size(); i += 2) model.alignment_heads.emplace_back(heads[i], heads[i + 1]);
  for (const auto& [layer, head] : model.alignment_heads)
    if (layer >= model.decoder.blocks().size() || head >= model.decoder.cross_heads(layer))
      fail({.what = "--set alignment_heads", .expected = "LAYER,HEAD,... of the decoder"});

  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  const extent frames = model.window_frames(), samples = frames * frontends::log_mel<>::shift,
               mels = model.frontend.width();
  const auto turned = [&](const char* name, const view<const float>& x) { j.write(name, rows(x.transpose())); };
  const auto clip = [&](extent count) {
    std::vector<float> w(static_cast<std::size_t>(samples));
    std::copy_n(pcm.begin(), std::min(static_cast<extent>(pcm.size()), std::min(count, samples)), w.begin());
    return w;
  };
  context c(j.run);
  rows x(frames, mels);
  model.frontend(clip(176000), x, c);
  turned("logmel_short11_head", core::read(x.topRows(std::min<extent>(1112, frames))));
  const extent total = static_cast<extent>(pcm.size()) + samples, content = static_cast<extent>(pcm.size()) / 160;
  const whisper::whisper_transcribed all = whisper::whisper_transcribe(model, pcm, {.temperatures = {0.0}}, c);
  const extent final_window = all.windows.empty() ? 0 : all.windows.back().first;
  rows last(std::min(frames, content - final_window), mels);
  model.frontend(pcm, total, final_window, model.frontend.peak(pcm, total, c), last, c);
  turned("logmel_last_window", last);

  model.frontend(clip(samples), x, c);
  turned("logmel", x);
  const auto sink = [&](std::string_view path, const view<const float>& y) {
    const std::string name = stages::whisper(path);
    if (name == "conv1_gelu" || name == "conv2_gelu") return turned(name.c_str(), y);  // [channels, frames]
    if (name != "logits_prompt") j.write(name, y);
  };
  whisper::whisper_window w;
  c.trace_to(core::tracer(sink));
  model.encode_rows(x, w, c);
  rows after(static_cast<extent>(prompt.size()), model.decoder.width());
  model.prompt_rows(prompt, w, after, c);
  c.trace_to({});
  const extent two = std::min<extent>(after.rows(), 2);
  rows logits(two, model.decoder.vocabulary());
  model.logits_of(core::read(after.bottomRows(two)), logits, c);
  j.write("logits_prompt_last2", logits);

  const whisper::whisper_decoded text = whisper::whisper_decode(model, w, {.without_timestamps = true}, c);
  const auto matrix_sink = [&](std::string_view path, const view<const float>& y) {
    if (path == "align_matrix") j.write("align_matrix", y);
  };
  c.trace_to(core::tracer(matrix_sink));
  (void)whisper::whisper_align(model, w, text.tokens, text.language, false, frames, c);
}

const family of_whisper(
    "whisper",
    "prompt=ID,ID,... (else, as the golden cases: <|de|>, no times, \" The quick\"), alignment_heads=LAYER,HEAD,...",
    whisper);

}  // namespace steno::trace

// SPDX-License-Identifier: Apache-2.0
#include <steno/models/contextual_paraformer.hpp>
#include <steno/models/seaco_paraformer.hpp>
#include <steno/pipelines/seaco_paraformer.hpp>

#include "paraformer.hpp"

namespace steno::trace {

namespace {

std::int64_t heads_of_hotwords(const funasr::seaco_paraformer_any& m) {
  const auto& layers = m.seaco_decoder.get<"decoders">();
  return layers.empty() ? 1 : layers.front().get<"src_attn">().heads();
}
std::int64_t heads_of_hotwords(const funasr::contextual_paraformer_any&) { return 1; }

// Stages behind the first one that reads hotwords are named after the run, but for the second predictor's.
template <class Model>
void run(job& j, const Model& model, const typename Model::options& o, const std::string& run_name) {
  j.set.finish();
  bool read_hotwords = false;
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    std::string name = stages::paraformer(path);
    read_hotwords |= name == "selected" || name == "hotword_embeds";
    if (read_hotwords && !name.empty() && !path.starts_with("predictor.")) name.insert(0, run_name);
    if (!name.ends_with("asf_attention")) return write_stage(j, name, x);
    const std::int64_t heads = heads_of_hotwords(model);
    j.write(name, std::span(x.data(), static_cast<std::size_t>(x.size())), {heads, x.rows() / heads, x.cols()});
  };
  context c(j.run, core::tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), o, c);
}

void seaco_paraformer(job& j) {
  const auto model = load_paraformer<funasr::seaco_paraformer_any>(j);
  const auto hotwords = take_hotwords(j.set);
  if (!hotwords) return run(j, model, {}, "");
  run(j, model, {.hotwords = hotwords->phrases}, hotwords->run);
}

void contextual_paraformer(job& j) {
  const auto model = load_paraformer<funasr::contextual_paraformer_any>(j);
  const auto hotwords = take_hotwords(j.set);
  const auto scale = static_cast<float>(j.set.take_real("clas_scale", static_cast<double>(model.clas_scale)));
  if (!hotwords) return run(j, model, {.clas_scale = scale}, "");
  run(j, model, {.hotwords = hotwords->phrases, .clas_scale = scale}, hotwords->run);
}

const family of_seaco("seaco_paraformer", "cmvn=false, hotwords=WORDS or FILE.txt", seaco_paraformer);
const family of_contextual("contextual_paraformer", "cmvn=false, hotwords=WORDS or FILE.txt, clas_scale=NUMBER",
                           contextual_paraformer);

}  // namespace

}  // namespace steno::trace

// The stages of an online Paraformer, piece by piece.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/paraformer.hpp>
#include <steno/streaming/paraformer_stream.hpp>

#include "families.hpp"
#include "stages/paraformer_online.hpp"

namespace steno::trace {

void paraformer_online(job& j) {
  using model_type = funasr::paraformer_online_any;
  auto model = load<model_type>(std::move(j.file));
  if (!j.set.take_flag("cmvn", true)) model.frontend.last.shift = {}, model.frontend.last.scale = {};
  nn::chunk_sizes sizes = model.default_sizes;
  const auto take = [&](const char* key, extent& value) { value = j.set.take_number(key, value); };
  take("chunk_before", sizes.before);
  take("chunk_size", sizes.size);
  take("chunk_after", sizes.after);
  take("encoder_look_back", sizes.encoder_look_back);
  take("decoder_look_back", sizes.decoder_look_back);
  j.set.finish();
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::paraformer_online(path);
    if (!name.ends_with("_alphas_raw")) return j.write(name, x);
    j.write(name, std::span(x.data(), static_cast<std::size_t>(x.size())), {x.size()});
  };
  context c(j.run, core::tracer(sink));
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  funasr::paraformer_stream<model_type> stream(model, {.sizes = sizes});
  const auto ignore = [](const funasr::paraformer_event&) {};
  stream.push(pcm, c, ignore);
  stream.finish(c, ignore);
}

const family of_paraformer_online(
    "paraformer_online",
    "cmvn=false, chunk_before=0, chunk_size=10, chunk_after=5, encoder_look_back=4, decoder_look_back=1",
    paraformer_online);

}  // namespace steno::trace

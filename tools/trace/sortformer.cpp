// Sortformer: a whole recording, or the chunks of a stream and then both other ways to diarize it.
// SPDX-License-Identifier: Apache-2.0
#include <steno/streaming/sortformer_stream.hpp>

#include <type_traits>
#include <vector>

#include "families.hpp"
#include "stages/nemo.hpp"

namespace steno::trace {

namespace {

// Probabilities of all rows of a stream.
std::vector<float> stream_probabilities(const nemo::sortformer_any& model, const nn::speaker_cache_options& o,
                                        std::span<const float> pcm, context& c) {
  std::vector<float> all;
  const auto keep = [&](const nemo::sortformer_event& e) {
    all.insert(all.end(), e.activities.data(), e.activities.data() + e.activities.size());
  };
  nemo::sortformer_stream<nemo::sortformer_any> stream(model, o);
  stream.push(pcm, c, keep);
  stream.finish(c, keep);
  return all;
}

}  // namespace

void sortformer(job& j) {
  const auto model = load<nemo::sortformer_any>(std::move(j.file));
  nn::speaker_cache_options o = model.streaming;
  nn::speaker_cache_options::each(o, [&]<class T>(const char* name, T& value) {
    if constexpr (std::is_same_v<T, extent>) value = j.set.take_number(name, value);
  });
  j.set.finish();
  const std::vector<float> pcm = read_audio(j.input, model.sample_rate);
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = stages::sortformer(path);
    if (path.ends_with(".mean_sil_emb"))
      j.write(name, std::span(x.data(), static_cast<std::size_t>(x.cols())), {x.cols()});
    else
      j.write(name, x);
  };
  const extent rows = model.frames(static_cast<extent>(pcm.size())), speakers = model.speakers();
  matrix<float, dynamic, dynamic> whole(rows, speakers);
  if (!model.streams) {
    context c(j.run, core::tracer(sink));
    return model.diarize(pcm, whole, c);
  }
  const auto write = [&](const char* name, const std::vector<float>& all) {
    j.write(name, all, {static_cast<std::int64_t>(all.size()) / speakers, speakers});
  };
  {
    context c(j.run, core::tracer(sink));
    core::workspace::frame scratch(c.scratch);
    matrix<float, dynamic, dynamic> features(model.frontend.rows(static_cast<extent>(pcm.size())),
                                             model.frontend.width());
    model.frontend(pcm, features, c);
    const matrix<float, dynamic, dynamic> turned = features.transpose();
    j.write("logmel", turned);
    write("speaker_probs", stream_probabilities(model, o, pcm, c));
  }
  context c(j.run);
  o.async_streaming = !o.async_streaming;
  write(o.async_streaming ? "speaker_probs_async" : "speaker_probs_sync", stream_probabilities(model, o, pcm, c));
  model.diarize(pcm, whole, c);
  j.write("speaker_probs_offline", whole);
}

const family of_sortformer("sortformer", "spkcache_len=188, fifo_len=0, chunk_len=188, ... (of streams)", sortformer);

}  // namespace steno::trace

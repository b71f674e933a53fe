#include <steno/models/paraformer.hpp>

#include "families.hpp"

namespace steno::trace {

void paraformer(job& j) {
  auto model = load<funasr::paraformer_any>(std::move(j.file), {}, std::move(j.image));
  if (!j.set.take_flag("cmvn", true)) model.frontend.last.shift = {}, model.frontend.last.scale = {};
  j.set.finish();
  const auto sink = [&](std::string_view path, const view<const float>& x) {
    const std::string name = funasr::paraformer_any::trace_name(path);
    if (name != "alphas_with_tail" && name != "cif_peaks") return j.write(name, x);
    j.write(name, std::span(x.data(), static_cast<std::size_t>(x.size())), {x.size()});  // one number a frame
  };
  context c(j.run, core::tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), {}, c);
}

const family of_paraformer("paraformer", "cmvn=false", paraformer);

}  // namespace steno::trace

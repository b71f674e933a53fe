#include <steno/models/paraformer.hpp>

#include "families.hpp"

namespace steno::trace {

void paraformer(job& j) {
  auto model = load<paraformer_any>(std::move(j.file), {}, std::move(j.image));
  if (!j.set.take_flag("cmvn", true)) model.frontend.last.shift = {}, model.frontend.last.scale = {};
  j.set.finish();
  const auto sink = j.sink(paraformer_any::trace_name);
  context c(j.run, tracer(sink));
  (void)model.recognise(read_audio(j.input, model.sample_rate), {}, c);
}

}  // namespace steno::trace

// tools/trace/families.hpp - the families steno-trace knows; a new one adds its function and a row.
#pragma once
#include <string_view>

#include "job.hpp"

namespace steno::trace {

void sense_voice(job& j);

struct family {
  std::string_view architecture, settings;  ///< settings: for --help
  void (*run)(job& j);
};
inline constexpr family families[] = {
    {"sense_voice", "language=auto|zh|en|..., itn=true, cmvn=false", sense_voice},
};

}  // namespace steno::trace

// global_cmvn: any text, read as JSON and as Kaldi's, is refused with steno::error or gives two finite vectors of one
// length.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdint>
#include <string_view>

#include "fuzz.hpp"
#include "wenet/folder.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool json : {true, false})
    read_or_refuse([&] {
      const auto s = steno::wenet_files::parse_cmvn(text, "input", json);
      require(!s.mean.empty() && s.mean.size() == s.istd.size());
      for (const float v : s.mean) require(std::isfinite(v));
      for (const float v : s.istd) require(std::isfinite(v) && v > 0);
    });
  return 0;
}

// global_cmvn: any text, read as JSON and as Kaldi's, is refused with steno::error or gives two finite vectors of one
// length.
#include <steno/error.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "wenet/folder.hpp"

namespace {
void require(bool condition) {
  if (!condition) std::abort();
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool json : {true, false}) try {
      const auto s = steno::wenet::parse_cmvn(text, "input", json);
      require(!s.mean.empty() && s.mean.size() == s.istd.size());
      for (const float v : s.mean) require(std::isfinite(v));
      for (const float v : s.istd) require(std::isfinite(v) && v > 0);
    } catch (const steno::error& e) {
      require(std::string_view(e.what()).find('\n') == std::string_view::npos);
    }
  return 0;
}

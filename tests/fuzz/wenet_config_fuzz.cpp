// train.yaml: any text is refused with steno::error, or gives settings from which tensors can be listed.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string_view>

#include "fuzz.hpp"
#include "wenet/folder.hpp"
#include "wenet/u2.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  read_or_refuse([&] {
    steno::wenet_files::folder f;
    static_cast<steno::checkpoint_settings&>(f) =
        steno::read_yaml("input", {text.data(), text.size()}, "a WeNet config");
    f.config = "train.yaml";
    f.units = "units.txt";
    const auto s = steno::wenet_files::read_settings(f, 30);
    require(s.vocabulary == 30 && s.blank < 30 && s.sos < 30 && s.eos < 30 && s.width % s.heads == 0);
  });
  return 0;
}

// Damage that knows nothing of keys and tensors: bits flipped in the header, files cut and prolonged.
// SPDX-License-Identifier: Apache-2.0
#include <random>

#include "damage/damages.hpp"

namespace steno::damage {

std::vector<one_damage> header_damages(const std::string& model, const gguf_parts& parts) {
  std::vector<one_damage> all;
  const std::string prefix = "gguf/" + model + "/header/";
  const auto add = [&](const std::string& value, auto edit) {
    all.push_back({prefix + value, "", value, [edit](const gguf_parts& from) {
                     std::string bytes = from.bytes();
                     edit(bytes);
                     return bytes;
                   }});
  };
  const std::size_t header = parts.header().size(), whole = parts.bytes().size();
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{3}, std::size_t{4}, std::size_t{8}, std::size_t{16}, std::size_t{23},
        std::size_t{24}, header / 2, header - 1, header, header + 1, (header + whole) / 2, whole - 33, whole - 1})
    add("cut-" + std::to_string(at), [at](std::string& b) { b.resize(at); });
  add("longer", [](std::string& b) { b.append(1000, 'x'); });
  for (std::size_t at = 0; at < 24; ++at)
    add("flip-" + std::to_string(at), [at](std::string& b) { b[at] = static_cast<char>(b[at] ^ 0xff); });
  std::mt19937 random(20260101);
  for (int n = 0; n < 200; ++n) {
    const std::size_t at = 24 + random() % (header - 24);
    const auto bits = static_cast<char>(1u << random() % 8);
    add("bit-" + std::to_string(at) + "-" + std::to_string(int(static_cast<unsigned char>(bits))),
        [at, bits](std::string& b) { b[at] = static_cast<char>(b[at] ^ bits); });
  }
  for (const std::uint64_t n :
       {std::uint64_t{1} << 20, std::uint64_t{1} << 40, std::uint64_t{1} << 63, ~std::uint64_t{0}})
    for (const auto& [what, at] : {std::pair{"tensors", 8u}, std::pair{"keys", 16u}})
      add(std::string(what) + "-" + std::to_string(n), [at = at, n](std::string& b) { b.replace(at, 8, bytes_of(n)); });
  return all;
}

}  // namespace steno::damage

// SentencePiece models: any bytes are refused with steno::error, or give pieces with as many scores and types.
// SPDX-License-Identifier: Apache-2.0
#include <steno/tokenizers/sentencepiece_model.hpp>

#include <cstdint>

#include "fuzz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const auto v = steno::tokenizers::read_sentencepiece_model(std::as_bytes(std::span(data, size)), "input");
    require(!v.pieces.empty() && v.scores.size() == v.pieces.size() && v.types.size() == v.pieces.size());
    std::size_t total = 0;
    for (const std::string& p : v.pieces) total += p.size();
    require(total <= size);
    for (const int t : v.types) require(t >= 1 && t <= 6);
  });
  return 0;
}

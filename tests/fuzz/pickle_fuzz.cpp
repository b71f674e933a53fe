// Pickles: any bytes are refused with steno::error, or load; then every object and view is consistent.
// SPDX-License-Identifier: Apache-2.0
#include "fuzz.hpp"
#include "torch/pickle.hpp"

using namespace steno_fuzz;

namespace {
using steno::torch::pickle;

void check(const pickle& p) {
  for (const auto& t : p.tensors()) {
    require(t.storage < p.storages().size() && t.shape.size() == t.stride.size());
    std::uint64_t last = t.offset;
    for (std::size_t i = 0; i < t.shape.size() && t.count != 0; ++i) last += (t.shape[i] - 1) * t.stride[i];
    require(t.count == 0 || last < p.storages()[t.storage].count);
  }
  const pickle::node& root = p.root();
  for (const pickle::id i : root.items) p.at(i);
  p.find(root, "state_dict");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const pickle p(std::as_bytes(std::span(data, size)), "input");
    require(p.end() <= size);
    check(p);
  });
  return 0;
}

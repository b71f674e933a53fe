// Calls every unit that this processor can run and compares what they say.
// SPDX-License-Identifier: Apache-2.0
#include "unit.hpp"

#include <cstdio>
#include <map>

int main() {
  std::map<std::string, unit_report> units;
  units["base"] = unit_base();
  units["again"] = unit_again();
#ifdef STENO_HAS_UNIT_fftw
  units["fftw"] = unit_fftw();
#endif
#ifdef STENO_HAS_UNIT_native
  units["native"] = unit_native();
#endif
#ifdef STENO_HAS_UNIT_avx2
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) units["avx2"] = unit_avx2();
#endif

  int failures = 0;
  const auto expect = [&](bool good, const std::string& what) {
    if (!good) std::printf("FAILED: %s\n", what.c_str());
    failures += good ? 0 : 1;
  };
  const auto exact = [](int row, int column) {
    double sum = 0;
    for (int k = 0; k < 64; ++k) sum += ((row * 64 + k) % 7 - 3) * ((column * 64 + k) % 5 - 2);
    return sum;
  };
  for (const auto& [name, unit] : units) {
    std::printf("%s: %s\n", name.c_str(), unit.abi.c_str());
    bool same = unit.product.size() == 19 * 33;
    for (int i = 0; same && i < 19 * 33; ++i) same = unit.product[static_cast<std::size_t>(i)] == exact(i / 33, i % 33);
    expect(same, name + " computes the product");
    same = unit.spectrum.size() == 2 * 201;
    for (std::size_t i = 0; same && i < 2 * 201; ++i) same = unit.spectrum[i] == (i % 2 == 0 ? 1.0 : 0.0);
    expect(same, name + " transforms an impulse");
    for (const auto& [other_name, other] : units)
      expect((unit.abi == other.abi) == (unit.symbol == other.symbol),
             name + " and " + other_name + " share symbols when their ABI is one");
  }
  expect(units["base"].abi == units["again"].abi, "equal flags have one ABI");
  if (units.contains("avx2")) expect(units["base"].abi != units["avx2"].abi, "different flags have different ABIs");
  return failures == 0 ? 0 : 1;
}

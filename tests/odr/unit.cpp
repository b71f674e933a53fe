// Compiled several times with different flags into one program.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/fft.hpp>
#include <steno/kernels/product.hpp>

#include "unit.hpp"

#define STENO_TEXT_OF(x) #x
#define STENO_TEXT(x) STENO_TEXT_OF(x)

unit_report STENO_UNIT() {
  // Small integers: every order of summation and every instruction set gives the same, exact product.
  constexpr steno::extent rows = 19, inner = 64, columns = 33;
  // Memory is the standard library's: Eigen's own matrices allocate by the flags of whichever unit the linker takes.
  std::vector<float> xs(rows * inner), values(columns * inner), ys(rows * columns);
  for (std::size_t i = 0; i < xs.size(); ++i) xs[i] = static_cast<float>(static_cast<int>(i % 7) - 3);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(static_cast<int>(i % 5) - 2);
  const auto x = steno::core::make_view(static_cast<const float*>(xs.data()), rows, inner);
  const auto y = steno::core::make_view(ys.data(), rows, columns);
  steno::weights::weight<steno::dynamic, steno::dynamic> w;
  if (!w.assign(steno::core::make_view(static_cast<const float*>(values.data()), columns, inner)))
    steno::fail({.what = "weights were refused"});

  steno::thread_pool pool(2);
  steno::context context(pool);
  steno::kernels::matmul(x, w.ref(), {}, y, context);

  const steno::kernels::real_fft fft(400);
  std::vector<float> impulses(400 * 16), lanes(static_cast<std::size_t>(32 * fft.bins()));
  std::vector<float> scratch(static_cast<std::size_t>(fft.scratch()));
  for (std::size_t lane = 0; lane < 16; ++lane) impulses[lane] = 1.0f;
  fft.forward(impulses.data(), lanes.data(), scratch.data());
  std::vector<double> bins;  // of the last lane
  for (std::size_t i = 15; i < lanes.size(); i += 16) bins.push_back(static_cast<double>(lanes[i]));

  void (*const symbol)(steno::core::fault) = &steno::fail;
  return {STENO_TEXT(STENO_ABI), std::vector<double>(ys.begin(), ys.end()), bins,
          reinterpret_cast<const void*>(symbol)};
}

// Compiled several times with different flags into one program.
#include <steno/steno.hpp>

#include "unit.hpp"

#define STENO_TEXT_OF(x) #x
#define STENO_TEXT(x) STENO_TEXT_OF(x)

unit_report STENO_UNIT() {
  // Small integers: every order of summation and every instruction set gives the same, exact product.
  constexpr steno::extent rows = 19, inner = 64, columns = 33;
  steno::matrix<float, steno::dynamic, steno::dynamic> x(rows, inner), values(columns, inner), y(rows, columns);
  for (steno::extent i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(i % 7 - 3);
  for (steno::extent i = 0; i < values.size(); ++i) values.data()[i] = static_cast<float>(i % 5 - 2);
  steno::weight<steno::dynamic, steno::dynamic> w;
  if (!w.assign(values)) steno::fail({.what = "weights were refused"});

  steno::thread_pool pool(2);
  steno::context context(pool);
  steno::kernels::matmul(steno::read(x), w.ref(), {}, steno::write(y), context);

  const steno::kernels::real_fft fft(400);
  std::vector<float> impulses(400 * 16), lanes(static_cast<std::size_t>(32 * fft.bins()));
  std::vector<float> scratch(static_cast<std::size_t>(fft.scratch()));
  for (std::size_t lane = 0; lane < 16; ++lane) impulses[lane] = 1.0f;
  fft.forward(impulses.data(), lanes.data(), scratch.data());
  std::vector<double> bins;  // of the last lane
  for (std::size_t i = 15; i < lanes.size(); i += 16) bins.push_back(static_cast<double>(lanes[i]));

  void (*const symbol)(steno::fault) = &steno::fail;
  return {STENO_TEXT(STENO_ABI), std::vector<double>(y.data(), y.data() + y.size()), bins,
          reinterpret_cast<const void*>(symbol)};
}

// Products of the shapes that the model families use, M x K x N, with the activations prepared inside, and Eigen's f32
// product beside them. For one to a few rows the weights come from memory (of_read); the others stay in the caches.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/product.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/storage.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "model_work.hpp"

namespace {
using namespace steno;
using kernels::isa;
using matrix_f = matrix<float, dynamic, dynamic>;

struct shape {
  extent m, k, n;
  bool operator==(const shape&) const = default;
};
constexpr shape shapes[] = {{188, 1024, 4096}, {188, 4096, 1024}, {500, 512, 2048}, {1500, 512, 512}, {1500, 384, 1536},
                            {16, 512, 2048},   {1, 1024, 3072},   {2, 2048, 6144},  {5, 2048, 6144}};

/// A weight of plausible bytes, as products read it; several copies where it shall come from memory.
class bench_weight {
 public:
  bench_weight(dtype format, const shape& s) : format_(format), shape_(s) {
    weights::weight_ref w{nullptr, nullptr, format, s.n, s.k};
    const std::vector<std::byte> stored = plausible(format, w.bytes());
    const std::size_t packed = kernels::packed_bytes(w);
    const std::size_t bytes = packed != 0 ? packed : stored.size(), stride = (bytes + 63) / 64 * 64;
    const std::size_t copies = cold() ? steno_bench::cold_bytes() / bytes + 1 : 1;
    std::byte* const to = room(copies * stride);
    w.data = stored.data();
    if (packed != 0)
      static_cast<void>(kernels::pack(w, to, executor()));
    else
      std::memcpy(to, stored.data(), bytes);
    for (std::size_t c = 0; c < copies; ++c) {
      w.data = to + c * stride;
      if (c != 0) std::memcpy(to + c * stride, to, bytes);
      w.packed = packed != 0 ? w.data : nullptr;
      refs.push_back(w);
    }
  }
  bool is(dtype format, const shape& s) const { return format == format_ && s == shape_; }

  std::vector<weights::weight_ref> refs;

 private:
  bool cold() const { return shape_.m < 8; }
  /// Where a block has its scale, or its only value; the scale of minima follows.
  static std::size_t scale_of(dtype format) {
    if (format == dtype::q2_k) return offsetof(weights::blocks::q2_k, d);
    if (format == dtype::q3_k) return offsetof(weights::blocks::q3_k, d);
    if (format == dtype::q6_k) return offsetof(weights::blocks::q6_k, d);
    return 0;
  }
  static std::vector<std::byte> plausible(dtype format, std::size_t bytes) {
    std::mt19937 engine(1);
    std::vector<std::byte> stored(bytes);
    for (std::size_t i = 0; i < bytes; ++i) stored[i] = static_cast<std::byte>(engine() % 251);
    for (std::size_t i = 0; i < bytes; i += core::info(format).bytes) {
      const float v = static_cast<float>(engine() % 2001) * 1e-3f - 1.0f;
      const bool bfloat = format == dtype::bf16 || format == dtype::bf16_a16;
      const std::uint16_t h = bfloat ? core::float_to_bfloat(v) : core::float_to_half(v);
      if (format == dtype::f32) {
        std::memcpy(&stored[i], &v, 4);
      } else {
        const std::size_t at = i + scale_of(format);
        std::memcpy(&stored[at], &h, 2);
        if (kernels::detail::layout_of(format).minima) std::memcpy(&stored[at + 2], &h, 2);
      }
    }
    return stored;
  }
  /// The same pages for every weight: where caches are large, new ones take longer than what is measured.
  static std::byte* room(std::size_t bytes) {
    static std::size_t size = 0;
    static std::byte* memory = nullptr;
    static std::optional<weights::storage> storage;
    if (bytes > size) {
      size = std::max(bytes, steno_bench::cold_bytes() + (std::size_t{64} << 20));
      memory = storage.emplace().allocate(size);
    }
    return memory;
  }

  dtype format_;
  shape shape_;
};

/// The last one is kept, as a benchmark is called several times, and once for each instruction set.
const bench_weight& weight_of(dtype format, const shape& s) {
  static std::optional<bench_weight> last;
  if (!last || !last->is(format, s)) last.emplace(format, s);
  return *last;
}

steno_bench::work work_of(const shape& s, dtype format, std::size_t bytes) {
  const double ops = 2.0 * static_cast<double>(s.m) * static_cast<double>(s.k) * static_cast<double>(s.n);
  steno_bench::work w{.bytes = static_cast<double>(bytes), .from_memory = s.m < 8};
  steno_bench::add_products(w, format, ops);
  return w;
}

matrix_f rows_of(const shape& s) {
  matrix_f x(s.m, s.k);
  std::mt19937 engine(2);
  for (extent i = 0; i < x.size(); ++i) x.data()[i] = static_cast<float>(engine() % 2001) * 1e-3f - 1.0f;
  return x;
}

void product(benchmark::State& state, dtype format, shape s, isa level) {
  kernels::limit_isa(level);
  const matrix_f x = rows_of(s), bias = matrix_f::Zero(1, s.n);
  const bench_weight& w = weight_of(format, s);
  matrix_f y(s.m, s.n);
  context c;
  std::size_t turn = 0;
  steno_bench::measure(state, work_of(s, format, w.refs[0].bytes()), [&] {
    kernels::matmul(core::read(x), w.refs[turn], {.bias = bias.data()}, core::write(y), c);
    turn = (turn + 1) % w.refs.size();
  });
  kernels::limit_isa(kernels::best_isa());
}

void two_threads(benchmark::State& state, dtype format, shape s) {
  const matrix_f x = rows_of(s);
  const bench_weight& w = weight_of(format, s);
  matrix_f y(s.m, s.n);
  thread_pool pool(2);
  context one, two{executor(pool)};
  const auto by = [&](context& c) { kernels::matmul(core::read(x), w.refs[0], {}, core::write(y), c); };
  steno_bench::work amount = work_of(s, format, w.refs[0].bytes());
  amount.threads = 2;
  steno_bench::measure(state, amount, [&] { by(two); });
  steno_bench::measure_speedup(
      state, [&] { by(one); }, [&] { by(two); });
}

void eigen(benchmark::State& state, shape s) {
  const matrix_f x = rows_of(s);
  const bench_weight& w = weight_of(dtype::f32, s);
  matrix_f y(s.m, s.n);
  std::size_t turn = 0;
  steno_bench::measure(state, work_of(s, dtype::f32, w.refs[0].bytes()), [&] {
    const auto* values = reinterpret_cast<const float*>(w.refs[turn].data);
    y.noalias() = x * core::make_view<dynamic, dynamic>(values, s.n, s.k).transpose();
    turn = (turn + 1) % w.refs.size();
  });
}

const bool registered = [] {
  for (const shape& s : shapes) {
    const std::string size = std::to_string(s.m) + "x" + std::to_string(s.k) + "x" + std::to_string(s.n);
    const auto add = [&](dtype format, isa level) {
      const std::string name =
          "product/" + std::string(core::info(format).name) + "/" + std::string(name_of(level)) + "/";
      benchmark::RegisterBenchmark((name + size).c_str(), product, format, s, level);
    };
    for (dtype format :
         {dtype::f32, dtype::f16, dtype::bf16, dtype::q8_0, dtype::q4_0, dtype::q4_1, dtype::q5_0, dtype::q5_1,
          dtype::q2_k, dtype::q3_k, dtype::q4_k, dtype::q5_k, dtype::q6_k, dtype::q8_128, dtype::bf16_a16}) {
      if (s.k % static_cast<extent>(core::info(format).elements) != 0) continue;
      add(format, kernels::best_isa());
#if defined(__x86_64__)
      if (kernels::best_isa() == isa::amx) add(format, isa::avx512vnni);  // what processors without tiles do
#endif
#if defined(__x86_64__)
      if (kernels::best_isa() > isa::avxvnni && kernels::has_isa(isa::avxvnni)) add(format, isa::avxvnni);
#endif
      if (kernels::best_isa() > kernels::lowest_vector_isa) add(format, kernels::lowest_vector_isa);
    }
    benchmark::RegisterBenchmark(("eigen/f32/" + size).c_str(), eigen, s);
    if (s.m >= 100)
      for (dtype format : {dtype::f32, dtype::q8_0})
        benchmark::RegisterBenchmark(("two_threads/" + std::string(core::info(format).name) + "/" + size).c_str(),
                                     two_threads, format, s)
            ->UseRealTime();
  }
  return true;
}();
}  // namespace

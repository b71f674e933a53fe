// compare-ggml [--shape NxK]... [--format NAME]... [--rows M,M,...] [--rounds N] [--isa LEVEL] - products of steno and
// of ggml side by side: y[M, N] = x[M, K] w[N, K]^T with the same stored weights, activations prepared inside, one
// thread. ggml's is the better of its plain and its repacked weights. In each round every one has a turn, so that all
// see the same moments. --isa: steno's instruction set, by its name in kernels/cpu.hpp; ggml's is decided when it is
// built. Measure pinned and undisturbed:
//   chrt -f 50 taskset -c 1 build/bin/compare-ggml
// Weights of fewer than eight rows come from memory: so many copies that no cache holds them. A line is: minimum and
// median of steno in microseconds, of ggml, ggml's minimum through steno's, of the medians, rate of steno (GB/s of
// stored weights, or GOP/s) and what it is of the reading rate, or of the int8, bfloat16 or multiply-add peak of the
// same rounds.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/kernels/product.hpp>
#include <steno/weights/storage.hpp>

#include <ggml-backend.h>
#include <ggml-cpu.h>
#include <ggml.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"

namespace {
using namespace steno;
using matrix_f = matrix<float, dynamic, dynamic>;
using steno_bench::detail::median, steno_bench::detail::now;

struct shape {
  extent n, k;
};

/// A format by both libraries' names.
struct format_pair {
  dtype ours;
  ggml_type theirs;
};
constexpr format_pair formats[] = {
    {dtype::f32, GGML_TYPE_F32},   {dtype::f16, GGML_TYPE_F16},      {dtype::bf16, GGML_TYPE_BF16},
    {dtype::q8_0, GGML_TYPE_Q8_0}, {dtype::q4_0, GGML_TYPE_Q4_0},    {dtype::q4_1, GGML_TYPE_Q4_1},
    {dtype::q5_0, GGML_TYPE_Q5_0}, {dtype::q5_1, GGML_TYPE_Q5_1},    {dtype::q2_k, GGML_TYPE_Q2_K},
    {dtype::q3_k, GGML_TYPE_Q3_K}, {dtype::q4_k, GGML_TYPE_Q4_K},    {dtype::q5_k, GGML_TYPE_Q5_K},
    {dtype::q6_k, GGML_TYPE_Q6_K}, {dtype::bf16_a16, GGML_TYPE_BF16}};

matrix_f random_matrix(extent rows, extent cols, unsigned seed) {
  matrix_f m(rows, cols);
  std::mt19937 engine(seed);
  std::normal_distribution<float> d;
  for (extent i = 0; i < m.size(); ++i) m.data()[i] = d(engine);
  return m;
}

/// Weights as both store them.
std::vector<std::byte> stored_weights(const format_pair& f, const shape& s) {
  const matrix_f w = random_matrix(s.n, s.k, 1);
  std::vector<std::byte> to(ggml_row_size(f.theirs, s.k) * static_cast<std::size_t>(s.n));
  ggml_quantize_chunk(f.theirs, w.data(), to.data(), 0, s.n, s.k, nullptr);
  return to;
}

std::size_t copies_of(std::size_t bytes, extent rows) {
  return rows < 8 ? (std::size_t{128} << 20) / bytes + 1 : std::size_t{1};
}

/// steno's product by several copies of the weights.
class ours {
 public:
  ours(const format_pair& f, const shape& s, const std::vector<std::byte>& stored, std::size_t copies)
      : shape_(s), format_(f.ours) {
    weights::weight_ref w{nullptr, nullptr, f.ours, s.n, s.k};
    const std::size_t packed = kernels::packed_bytes(w), bytes = packed != 0 ? packed : stored.size();
    for (std::size_t i = 0; i < copies; ++i) {
      std::byte* const to = memory_.allocate(bytes);
      w.data = stored.data();
      w.packed = nullptr;
      if (packed != 0) {
        kernels::pack(w, to, executor());
      } else {
        std::memcpy(to, stored.data(), bytes);
      }
      w.data = to;
      w.packed = packed != 0 ? to : nullptr;
      weights_.push_back(w);
    }
  }
  void operator()(const matrix_f& x, matrix_f& y, int products) {
    for (int i = 0; i < products; ++i, next_ = (next_ + 1) % weights_.size())
      kernels::matmul(core::read(x), weights_[next_], {}, core::write(y), context_);
  }

 private:
  shape shape_;
  dtype format_;
  weights::storage memory_;
  std::vector<weights::weight_ref> weights_;
  context context_;
  std::size_t next_ = 0;
};

/// The same of ggml, with weights in buffers of one type.
class theirs {
 public:
  theirs(const format_pair& f, const shape& s, const std::vector<std::byte>& stored, std::size_t copies, extent rows,
         ggml_backend_buffer_type_t type)
      : backend_(ggml_backend_cpu_init()) {
    ggml_backend_cpu_set_n_threads(backend_, 1);
    const ggml_init_params params{ggml_tensor_overhead() * 4 * (copies + 8) + ggml_graph_overhead() * copies, nullptr,
                                  true};
    weights_ = ggml_init(params);
    values_ = ggml_init(params);
    std::vector<ggml_tensor*> w;
    for (std::size_t i = 0; i < copies; ++i) w.push_back(ggml_new_tensor_2d(weights_, f.theirs, s.k, s.n));
    x_ = ggml_new_tensor_2d(values_, GGML_TYPE_F32, s.k, rows);
    for (ggml_tensor* t : w) {
      ggml_cgraph* const graph = ggml_new_graph_custom(values_, 8, false);
      results_.push_back(ggml_mul_mat(values_, t, x_));
      ggml_build_forward_expand(graph, results_.back());
      graphs_.push_back(graph);
    }
    buffers_[0] = ggml_backend_alloc_ctx_tensors_from_buft(weights_, type);
    buffers_[1] = ggml_backend_alloc_ctx_tensors(values_, backend_);
    for (ggml_tensor* t : w) ggml_backend_tensor_set(t, stored.data(), 0, stored.size());
  }
  theirs(const theirs&) = delete;
  ~theirs() {
    for (ggml_backend_buffer_t b : buffers_) ggml_backend_buffer_free(b);
    ggml_free(weights_);
    ggml_free(values_);
    ggml_backend_free(backend_);
  }
  void operator()(const matrix_f& x, matrix_f& y, int products) {
    if (x_->data != nullptr) std::memcpy(x_->data, x.data(), static_cast<std::size_t>(x.size()) * 4);
    for (int i = 0; i < products; ++i, next_ = (next_ + 1) % graphs_.size())
      ggml_backend_graph_compute(backend_, graphs_[next_]);
    std::memcpy(y.data(), results_[0]->data, static_cast<std::size_t>(y.size()) * 4);
  }

 private:
  ggml_backend_t backend_;
  ggml_context *weights_ = nullptr, *values_ = nullptr;
  ggml_tensor* x_ = nullptr;
  std::vector<ggml_tensor*> results_;
  std::vector<ggml_cgraph*> graphs_;
  ggml_backend_buffer_t buffers_[2] = {};
  std::size_t next_ = 0;
};

/// Buffers in which ggml keeps weights of this format: plain, and repacked where it can.
std::vector<ggml_backend_buffer_type_t> buffer_types(const format_pair& f, const shape& s) {
  std::vector<ggml_backend_buffer_type_t> all{ggml_backend_cpu_buffer_type()};
  ggml_backend_dev_t device = ggml_backend_reg_dev_get(ggml_backend_cpu_reg(), 0);
  auto* const extra = reinterpret_cast<ggml_backend_dev_get_extra_bufts_t>(
      ggml_backend_reg_get_proc_address(ggml_backend_cpu_reg(), "ggml_backend_dev_get_extra_bufts"));
  if (extra == nullptr) return all;
  for (ggml_backend_buffer_type_t* b = extra(device); b != nullptr && *b != nullptr; ++b) {
    ggml_context *weights = ggml_init({ggml_tensor_overhead(), nullptr, true}),
                 *others = ggml_init({ggml_tensor_overhead() * 2, nullptr, true});
    ggml_tensor* const w = ggml_new_tensor_2d(weights, f.theirs, s.k, s.n);
    ggml_tensor* const product = ggml_mul_mat(others, w, ggml_new_tensor_2d(others, GGML_TYPE_F32, s.k, 1));
    ggml_backend_buffer_t buffer = ggml_backend_alloc_ctx_tensors_from_buft(weights, *b);
    if (buffer != nullptr && ggml_backend_dev_supports_op(device, product)) all.push_back(*b);
    ggml_backend_buffer_free(buffer);
    ggml_free(weights);
    ggml_free(others);
  }
  return all;
}

void compare(const format_pair& f, const shape& s, extent rows, int rounds) {
  const std::vector<std::byte> stored = stored_weights(f, s);
  const std::size_t copies = copies_of(stored.size(), rows);
  const matrix_f x = random_matrix(rows, s.k, 2);
  std::vector<std::function<void(matrix_f&, int)>> turns;
  turns.push_back([&, p = std::make_shared<ours>(f, s, stored, copies)](matrix_f& y, int n) { (*p)(x, y, n); });
  for (ggml_backend_buffer_type_t type : buffer_types(f, s))
    turns.push_back(
        [&, p = std::make_shared<theirs>(f, s, stored, copies, rows, type)](matrix_f& y, int n) { (*p)(x, y, n); });
  const kernels::weight_family family = kernels::family_of(f.ours);
  const double ops = 2.0 * static_cast<double>(rows) * static_cast<double>(s.k) * static_cast<double>(s.n);
  const int products = static_cast<int>(std::clamp(4e8 / ops, 1.0, 16.0));
  std::vector<std::vector<double>> times(turns.size());
  std::vector<double> limits;
  std::vector<matrix_f> y(turns.size(), matrix_f::Zero(rows, s.n));
  for (int round = -1; round < rounds; ++round) {
    limits.push_back(rows < 8                                           ? steno_bench::read_rate()
                     : kernels::is_int8(family)                         ? steno_bench::int8_rate()
                     : family == kernels::weight_family::rounded_columns ? steno_bench::bfloat_rate()
                                                                        : steno_bench::fma_rate());
    for (std::size_t i = 0; i < turns.size(); ++i) {
      const double from = now();
      // First each copy once: memory that was written a while ago may be slow to come.
      turns[i](y[i], round < 0 ? std::max(products, static_cast<int>(copies)) : products);
      if (round >= 0) times[i].push_back((now() - from) * 1e6 / products);
    }
  }
  const double difference = (y[1] - y[0]).norm() / y[0].norm();
  const auto least = [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); };
  std::size_t best = 1;
  for (std::size_t i = 2; i < turns.size(); ++i)
    if (least(times[i]) < least(times[best])) best = i;
  const double a = least(times[0]), b = least(times[best]), am = median(times[0]), bm = median(times[best]);
  const double rate = (rows < 8 ? static_cast<double>(stored.size()) : ops) * 1e6;
  const double limit = *std::max_element(limits.begin(), limits.end());
  std::printf("%-5s %4tdx%-4td %5td  %9.1f %9.1f  %9.1f %9.1f %c  %5.2f %5.2f  %6.1f %s %4.0f %%%s\n",
              std::string(core::info(f.ours).name).c_str(), s.n, s.k, rows, a, am, b, bm, best > 1 ? 'r' : ' ', b / a,
              bm / am, rate / a * 1e-9, rows < 8 ? "GB/s " : "GOP/s", 100 * rate / a / limit,
              difference < 0.03 ? "" : "  results differ");
  std::fflush(stdout);
}
}  // namespace

int main(int count, char** arguments) {
  std::vector<shape> shapes;
  std::vector<std::string_view> names;
  std::vector<extent> rows;
  int rounds = 9;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view option = arguments[i];
    char* at = arguments[i + 1];
    if (option == "--shape") {
      const extent n = std::strtol(at, &at, 10);
      shapes.push_back({n, std::strtol(at + 1, nullptr, 10)});
    } else if (option == "--format") {
      names.emplace_back(at);
    } else if (option == "--rows") {
      for (; *at != 0; at += *at == ',' ? 1 : 0) rows.push_back(std::strtol(at, &at, 10));
    } else if (option == "--rounds") {
      rounds = std::atoi(at);
    } else if (option == "--isa") {
      const auto level = std::find_if(std::begin(kernels::isa_levels), std::end(kernels::isa_levels),
                                      [&](kernels::isa l) { return kernels::name_of(l) == at && kernels::has_isa(l); });
      if (level == std::end(kernels::isa_levels)) {
        std::fprintf(stderr, "this processor has no instruction set %s\n", at);
        return 2;
      }
      kernels::limit_isa(*level);
    } else {
      std::fprintf(stderr, "unknown option %s; see the file's beginning\n", arguments[i]);
      return 2;
    }
  }
  if (shapes.empty()) shapes = {{1024, 4096}};
  if (rows.empty()) rows = {1, 2, 5, 16, 100, 500, 1500};
  ggml_log_set([](ggml_log_level, const char*, void*) {}, nullptr);  // a line for each weight that it repacks
  ggml_cpu_init();
  std::printf("%s\n", std::string(kernels::name_of(kernels::active_isa())).c_str());
  std::printf("format  NxK     rows  steno: min    median  ggml: min    median    ratio (min, median)\n");
  for (const shape& s : shapes)
    for (const format_pair& f : formats)
      if (names.empty() || std::find(names.begin(), names.end(), core::info(f.ours).name) != names.end())
        for (const extent m : rows) compare(f, s, m, rounds);
}

// steno/layers/positions.hpp - the sinusoids of "Attention is all you need", sine and cosine side by side.
//
//   y[t] = [sin(p w_0), cos(p w_0), sin(p w_1), cos(p w_1), ...],  p = first + t by,  w_i = exp(-2 i ln(10000) / D)
//
// WeNet `PositionalEncoding` (embedding.py), NeMo `RelPositionalEncoding`. The originals keep a table of 5000 rows;
// here any position is computed, in float as the original's table was. Tested in tests/layers/positions_test.cpp and on
// golden stage "pos_emb".
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/attention_window.hpp>
#include <steno/layers/stack.hpp>

#include <algorithm>
#include <cmath>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Positions first, first + by, ... into y [rows, D]; D is even.
inline void write_positions(extent first, view<float> y, context& c, extent by = 1) {
  const extent half = y.cols() / 2;
  core::workspace::frame scratch(c.scratch);
  float* rate = scratch.take<float>(static_cast<std::size_t>(half));
  const auto step = static_cast<float>(-(std::log(10000.0) / static_cast<double>(y.cols())));
  for (extent i = 0; i < half; ++i) rate[i] = std::exp(static_cast<float>(2 * i) * step);
  constexpr extent tile = 8;
  float* const out = y.data();
  const extent rows = y.rows(), stride = y.outerStride();
  c.run.run((rows + tile - 1) / tile, [&](extent n, int) {
    for (extent t = n * tile; t < std::min(rows, (n + 1) * tile); ++t) {
      const auto position = static_cast<float>(first + t * by);
      for (extent i = 0; i < half; ++i) {
        const float angle = position * rate[i];
        out[t * stride + 2 * i] = std::sin(angle);
        out[t * stride + 2 * i + 1] = std::cos(angle);
      }
    }
  });
}

/// A record with the positions [frames, D] of the rows of a call.
template <class Env>
struct env_with_positions : Env {
  view<const float> positions;  ///< a row for each row of the call
};

/// Runs a stack with the positions of its rows, which go to its attention, or are added to its rows where the file says
/// so. A stream goes on counting. WeNet `PositionalEncoding` and `RelPositionalEncoding`.
template <class Stack, extent Relative = dynamic>
struct with_positions : around<Stack> {
  using around<Stack>::input, around<Stack>::output;
  /// What a stream keeps: the stack's state, and where its positions are.
  struct state {
    state_of<Stack> stack;  ///< of the layers inside
    extent frames = 0;      ///< so far
  };

  core::flag<Relative> relative;  ///< 1: positions go to the attention; 0: they are added to the rows

  void members(auto&& v) {
    v("relative_positions", relative);
    detail::visit_stage(this->stack, v);
    v.require(this->input_size() % 2 == 0, "width", "an even number", this->input_size());
  }
  state start() const { return {this->stack.start(), 0}; }
  void restart(state& s) const {
    steno::nn::restart(this->stack, s.stack);
    s.frames = 0;
  }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    core::workspace::frame scratch(c.scratch);
    auto positions = scratch.matrix(x.rows(), x.cols());
    write_positions(s == nullptr ? 0 : s->frames, positions, c);
    if (s != nullptr) s->frames += x.rows();
    const env_with_positions<std::remove_cvref_t<decltype(env)>> own{env, core::read(positions)};
    if (relative.get() == 0) kernels::add(core::read(x), core::read(positions), core::write(y));
    const auto rows = relative.get() == 0 ? core::as<const float, dynamic, input>(y) : x;
    c.trace("subsampled", rows);
    c.trace("pos_emb", positions);
    this->run(rows, y, s == nullptr ? nullptr : &s->stack, own, c);
  }
};

/// Positions of distances, the farthest first.
struct distance_table {
  view<const float> rows;  ///< [count, D]; empty where a stream has them already
  extent farthest = 0;     ///< distance of the first row
  bool stays = false;      ///< a stream shall keep what it makes of them
};
/// A record with the positions of distances between a key and a query.
template <class Env>
struct env_with_distances : Env {
  distance_table distances;  ///< of this call
};

/// Runs a stack with the positions of all distances between a key and a query of a call. Where the record bounds what a
/// stream keeps, the distances it ever needs are given once. NeMo `RelPositionalEncoding`.
template <class Stack>
struct with_distances : around<Stack> {
  using around<Stack>::input, around<Stack>::output;
  /// What a stream keeps: the stack's state, and the distances that it has positions for.
  struct state {
    state_of<Stack> stack;  ///< of the layers inside
    extent kept = 0;        ///< keys in the caches
    extent keys = 0;        ///< the largest number of keys that the stack has distances for
    extent rows = 0;        ///< the largest number of queries that it has distances for
  };

  void members(auto&& v) {
    detail::visit_stage(this->stack, v);
    v.require(this->input_size() % 2 == 0, "width", "an even number", this->input_size());
  }
  state start() const { return {.stack = this->stack.start()}; }

  void operator()(view<const float, dynamic, input> x, view<float, dynamic, output> y, state* s, const auto& env,
                  context& c) const {
    if (x.rows() == 0) return;
    const extent n = x.rows(), keep = keep_of(env), before = s == nullptr ? 0 : s->kept;
    const bool bounded = s != nullptr && keep >= 0;
    extent keys = before + n, rows = n;
    bool needed = true;
    if (bounded) {
      needed = keep + n > s->keys || n > s->rows;
      keys = s->keys = std::max(s->keys, keep + n);
      rows = s->rows = std::max(s->rows, n);
    }
    core::workspace::frame scratch(c.scratch);
    auto positions = scratch.matrix(needed ? keys + rows - 1 : 0, x.cols());
    write_positions(keys - 1, positions, c, -1);
    if (!bounded) c.trace("pos_emb", positions);
    const env_with_distances<std::remove_cvref_t<decltype(env)>> own{
        env, {.rows = core::read(positions), .farthest = keys - 1, .stays = bounded && needed}};
    this->run(x, y, s == nullptr ? nullptr : &s->stack, own, c);
    if (s != nullptr) s->kept = keep < 0 ? before + n : std::min(keep, before + n);
  }
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno

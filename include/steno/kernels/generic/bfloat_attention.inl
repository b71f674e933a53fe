// steno/kernels/generic/bfloat_attention.inl - attention of many queries by factors that are sums of bfloat16 numbers
// (bfloat_terms.hpp); compiled by bfloat_attention.hpp, for AMX and for vdpbf16ps.
//
// What attention_job::packed_keys and packed_values hold, for each slot and tile of 128 keys:
//   keys     [4 pairs of groups][steps of the width][terms][2 groups][16 pairs of a key's values][16 keys]
//   values   [pairs of groups][4 steps][terms][2 groups][16 pairs of keys][16 columns]
// What an instruction set brings: `terms`, and multiply_panels(x, rows, steps, all, by, sums, stride, first): `rows`
// rows in panels of panel_rows, of whose `all` steps `steps` count, by a pair of groups; `first`: sums begin here.
// SPDX-License-Identifier: Apache-2.0

inline constexpr extent panel_rows = 16;
inline constexpr extent key_steps = detail::attention_keys / 32;
/// From one pair of groups to the next, in steps of so many.
constexpr extent pair_values(extent steps) { return steps * terms * 2 * tile_values; }
constexpr extent panel_values(extent steps) { return steps * terms * tile_values; }

/// Keys and values of one head and tile.
inline void attention_pack(const detail::attention_job& job, extent head, extent tile, float* keys,
                           float* values) noexcept {
  constexpr extent step = detail::attention_keys;
  const extent first = tile * step, count = std::min(step, job.keys - first), steps = detail::steps_of(job.width);
  const float* const k = job.keys_of(head) + first * job.k_stride;
  auto* const to_keys = reinterpret_cast<std::uint16_t*>(keys);
  for (extent g = 0; g < (count + 31) / 32 * 2; ++g)
    for (extent s = 0; s < steps; ++s) {
      alignas(64) std::uint16_t rows[terms * tile_values];  // a key's pairs side by side
      for (extent j = 0; j < 16; ++j) {
        const extent key = 16 * g + j;
        const row_pairs pairs =
            key < count ? load_pairs(k + key * job.k_stride + 32 * s, job.width - 32 * s) : row_pairs{zero(), zero()};
        put_terms<terms>(pairs.low, pairs.high, rows + 32 * j, tile_values);
      }
      std::uint16_t* const to = to_keys + g / 2 * pair_values(steps) + (s * terms * 2 + g % 2) * tile_values;
      for (extent t = 0; t < terms; ++t)
        avx512::transpose(reinterpret_cast<const float*>(rows + t * tile_values), 16,
                          reinterpret_cast<float*>(to + t * 2 * tile_values), 16);
    }
  const float* const v = job.values_of(head) + first * job.v_stride;
  auto* const to_values = reinterpret_cast<std::uint16_t*>(values);
  for (extent s = 0; 32 * s < count; ++s)
    for (extent p = 0; p < 16; ++p)
      for (extent i = 0; i < job.value_stride(); i += 16) {
        const int n = static_cast<int>(std::clamp<extent>(job.value_width - i, 0, 16));
        const auto row = [&](extent key) __attribute__((always_inline)) {
          return key < count && n > 0 ? load_n(v + key * job.v_stride + i, n) : zero();
        };
        put_terms<terms>(
            row(32 * s + p), row(32 * s + 16 + p),
            to_values + i / 32 * pair_values(key_steps) + (s * terms * 2 + i / 16 % 2) * tile_values + 32 * p,
            2 * tile_values);
      }
}

/// What attention_tile_of() needs, in tiles.
class tile_products {
 public:
  static extent rows_of(extent count) { return detail::round_up(count, panel_rows); }

  tile_products(const detail::attention_job& job, extent slot, extent rows, float* scratch)
      : job_(job),
        slot_(slot),
        rows_(rows),
        steps_(detail::steps_of(job.width)),
        queries_(reinterpret_cast<std::uint16_t*>(scratch)),
        weights_(queries_ + rows / panel_rows * panel_values(steps_)) {}

  void begin(const float* queries) {
    for (extent r = 0; r < rows_; r += panel_rows)
      split_rows<terms>(queries + r * job_.width, job_.width, panel_rows, job_.width,
                        queries_ + r / panel_rows * panel_values(steps_));
  }
  void score(extent tile, extent keys, float* scores) {
    const auto* k = reinterpret_cast<const std::uint16_t*>(job_.keys_at(slot_, tile));
    for (extent j = 0; j < keys; j += 32, k += pair_values(steps_))
      multiply_panels(queries_, rows_, steps_, steps_, k, scores + j, detail::attention_keys, true);
  }
  STENO_INLINE void put(float*, extent r, extent j, f32x16 low, f32x16 high) {
    put_terms<terms>(low, high,
                     weights_ + r / panel_rows * panel_values(key_steps) + (j / 2 * terms + r % panel_rows) * 32,
                     tile_values);
  }
  void sum(extent tile, extent keys, const float*, float* values) {
    const auto* v = reinterpret_cast<const std::uint16_t*>(job_.values_at(slot_, tile));
    for (extent i = 0; i < job_.value_stride(); i += 32, v += pair_values(key_steps))
      multiply_panels(weights_, rows_, detail::steps_of(keys), key_steps, v, values + i, job_.value_stride(), false);
  }

 private:
  const detail::attention_job& job_;
  extent slot_, rows_, steps_;
  std::uint16_t *queries_, *weights_;
};

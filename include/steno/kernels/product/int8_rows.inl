// steno/kernels/product/int8_rows.inl - few rows of x by block-scaled weights, which are multiplied where they lie;
// compiled per instruction set.
//
// So few rows wait for the weights. Nothing is unpacked into a buffer (quants come apart in registers). Two groups are
// taken at once, each of them a stream (of q8_0 two: its scales lie apart); or one after the other, where that is
// faster (read_ahead.hpp) or registers are few. What is wanted later is fetched, in the last blocks what the next
// groups begin with. Specification, also of the order of sums: product/reference.hpp. Tested in
// tests/kernels/product_test.cpp.
//
// What an instruction set brings: `counts` (16 integer sums), start_at(float),
// as_floats(counts), `signed_bytes` (whether 8-bit weights are multiplied without the 128 that is added to them),
// sums_in_registers, few_rows(bits), pair_rows (rows that may take two groups at once), and dot_half<Bits, First,
// C>(all, d, x, block, next_group): d[I] += row I / C by values 4 First to 4 First + 15 of group I % C.
// SPDX-License-Identifier: Apache-2.0

/// Scales of 16 columns.
struct column_scales {
  f32x16 scale, origin;

  STENO_INLINE explicit column_scales(f32x16 s) : scale(s), origin(s * broadcast(-detail::sum_origin)) {}
  /// The sums of d, counted from detail::sum_origin on, times these.
  STENO_INLINE f32x16 times(counts d) const { return fma(as_floats(d), scale, origin); }
};
/// The sums of a tile, in registers; or at `memory`, [rows][2][16], where the registers are wanted for a block's own.
template <int C>
struct row_sums {
  f32x16* registers;
  float* memory;

  template <int I>
  STENO_INLINE void add(f32x16 a, f32x16 b) const {
    if constexpr (sums_in_registers) {
      registers[I] = fma(a, b, registers[I]);
    } else {
      float* const sum = memory + (I / C * 2 + I % C) * 16;
      store(sum, fma(a, b, load(sum)));
    }
  }
};
/// sum I += d[I] * scale of each column of group I % C * scale of row I / C
template <int C, int... I>
STENO_INLINE void add_dots(std::integer_sequence<int, I...>, row_sums<C> sums, const counts* d, const float* scales,
                           f32x16 first, f32x16 second) {
  const column_scales w[] = {column_scales(first), column_scales(second)};
  (sums.template add<I>(w[I % C].times(d[I]), broadcast(scales[16 * (I / C)])), ...);
}
/// sum I += offset of row I / C * minimum of each column of group I % C
template <int C, int... I>
STENO_INLINE void add_offsets(std::integer_sequence<int, I...>, row_sums<C> sums, const float* offsets, f32x16 first,
                              f32x16 second) {
  const f32x16 m[] = {first, second};
  (sums.template add<I>(m[I % C], broadcast(offsets[16 * (I / C)])), ...);
}

STENO_INLINE f32x16 half_vector(const std::byte* p) { return load_f16(reinterpret_cast<const std::uint16_t*>(p)); }
/// The scales or minima at p: f16, or (super) small integers times the factors that eight blocks share.
STENO_INLINE f32x16 scales_of(const std::byte* p, bool super, const float* factors) {
  return super ? load(factors) * load_i8(reinterpret_cast<const std::int8_t*>(p)) : half_vector(p);
}

template <int Hint, int... J>
STENO_INLINE void fetch_lines(std::integer_sequence<int, J...>, const std::byte* p) {
  (__builtin_prefetch(p + 64 * J, 0, Hint), ...);
}
template <int Lines>
STENO_INLINE void fetch_block(const std::byte* p, cache_level into) {
  constexpr std::make_integer_sequence<int, Lines> lines;
  into == cache_level::first ? fetch_lines<3>(lines, p) : fetch_lines<2>(lines, p);
}

/// sizeof...(I) / C rows by C groups of a strip from `g` on; a scale for every Span blocks. sums: [rows][2][16];
/// factors: [C][scale, minimum][16].
template <int Bits, extent Span, int C, int... I>
[[gnu::noinline]] void int8_row_tile(std::integer_sequence<int, I...> all, const detail::strip& s, extent g,
                                     float* sums, float* factors) noexcept {
  constexpr extent R = sizeof...(I) / C;
  constexpr bool apart = Bits == 8;  // scales lie behind all quants
  constexpr int lines = apart ? 8 : Bits + 1;
  const operand& x = *s.x;
  const detail::block_layout l = detail::known_layout<Bits>(s.layout);
  const bool super = l.super, halves = l.halves, minima = l.minima;
  const extent blocks = x.cols / detail::block, scale_count = blocks / Span, plane = halves ? x.plane : 0;
  const std::size_t next = s.next_group, quants = l.plane_bytes(), other = C > 1 ? next : 0;
  const std::size_t step = apart ? quants : l.block_bytes(), vector = super ? 16 : 32;
  const std::size_t first_minima = l.vectors() * vector, second = halves ? vector : 0;
  const std::size_t head = minima ? 64 : 32;   // of eight blocks: their factors
  const float unbiased = 1 - static_cast<float>(l.bias) / 128;  // bytes have no bias here
  const auto start = [=](float biased) __attribute__((always_inline)) {
    if constexpr (apart) return start_at(signed_bytes ? detail::sum_origin : biased);
    return start_at((biased - detail::sum_origin) * unbiased + detail::sum_origin);  // whole numbers: exact
  };
  const std::int8_t* xq = x.quants;
  const std::byte *p = s.packed + static_cast<std::size_t>(g) * next,
                  *w = p + static_cast<std::size_t>(blocks) * quants;
  // What the next groups begin with; of the last ones, their own beginning.
  const bool more = s.w->packed != nullptr && s.n0 + (g + C) * detail::group < s.w->rows;
  const std::size_t following = more ? C * next : 0;
  // Whole superblocks, whose factors are fetched with their first block, and spans.
  const read_ahead::of_blocks& fetched = s.ahead.blocks(Bits);
  const std::size_t unit = super ? 8 : static_cast<std::size_t>(Span);
  const std::size_t lead = std::min(static_cast<std::size_t>(blocks), fetched.blocks(step, unit));
  const std::byte *ahead = p + lead * step + (super ? lead / 8 * head : 0), *const then = p + following;
  const std::byte *scales_ahead = w + lead / Span * 32, *const scales_then = w + following;
  const cache_level into = fetched.into;
  f32x16 registers[] = {(static_cast<void>(I), zero())...};
  const row_sums<C> acc{registers, sums};
  const auto keep = [&]() __attribute__((always_inline)) {
    (store(sums + (I / C * 2 + I % C) * 16, registers[I]), ...);
  };
  if (!sums_in_registers) keep();
  const extent leading = scale_count - static_cast<extent>(lead) / Span;
  for (extent b = 0; b < scale_count; ++b) {
    const extent at = b / 16 * R * 16 + b % 16;
    const float *const scales = x.scales + at, *const starts = x.starts + at + plane;
    const float* const offsets = x.offsets + at + plane;
    if (b == leading) {
      ahead = then;
      scales_ahead = scales_then;
    }
    counts d[] = {start(starts[16 * (I / C)])...};
    for (extent left = Span; left != 0; --left) {
      fetch_block<lines>(ahead, into);
      if constexpr (C > 1) fetch_block<lines>(ahead + next, into);
      if (super && b % 8 == 0) {  // there are factors in front
        fetch_block<1>(ahead + 64 * lines, into);
        if constexpr (C > 1) fetch_block<1>(ahead + next + 64 * lines, into);
        ahead += head;
        store(factors, half_vector(p));
        if constexpr (C > 1) store(factors + 32, half_vector(p + next));
        if (minima) {
          store(factors + 16, half_vector(p + 32));
          if constexpr (C > 1) store(factors + 48, half_vector(p + next + 32));
        }
        p += head;
      }
      ahead += step;
      if (!apart) w = p + quants;
      dot_half<Bits, 0, C>(all, d, xq, p, next);
      if (halves) {
        add_dots<C>(all, acc, d, scales, scales_of(w, super, factors), scales_of(w + other, super, factors + 32));
        ((d[I] = start(starts[plane + 16 * (I / C)])), ...);
        if (minima)
          add_offsets<C>(all, acc, offsets, scales_of(w + first_minima, super, factors + 16),
                         scales_of(w + other + first_minima, super, factors + 48));
      }
      dot_half<Bits, 4, C>(all, d, xq, p, next);
      xq += R * detail::block;
      p += step;
    }
    add_dots<C>(all, acc, d, scales, scales_of(w + second, super, factors),
                scales_of(w + other + second, super, factors + 32));
    if (minima)
      add_offsets<C>(all, acc, offsets + plane, scales_of(w + first_minima + second, super, factors + 16),
                     scales_of(w + other + first_minima + second, super, factors + 48));
    if constexpr (apart) {
      if (b % 2 == 0) {
        fetch_block<1>(scales_ahead, into);
        if constexpr (C > 1) fetch_block<1>(scales_ahead + next, into);
      }
      scales_ahead += 32;
      w += 32;
    }
  }
  if (sums_in_registers) keep();
}

template <int Bits, extent Span, int Rows>
void int8_few_rows(const detail::strip& s) noexcept {
  constexpr std::make_integer_sequence<int, Rows> rows;
  constexpr std::make_integer_sequence<int, 2 * Rows> pairs;
  if (s.x->rows == Rows) {
    if constexpr (Rows <= pair_rows)
      if (Rows > 1 || s.ahead.blocks(Bits).streams > 1)
        return int8_row_tile<Bits, Span, 2>(pairs, s, 0, s.sums, s.scratch);
    if constexpr (Rows == 1 || Rows > pair_rows)
      for (extent g = 0; g < 2; ++g) int8_row_tile<Bits, Span, 1>(rows, s, g, s.sums + g * 16, s.scratch);
    return;
  }
  if constexpr (Rows > 1) int8_few_rows<Bits, Span, Rows - 1>(s);
}
/// A strip of two groups; x has one panel. Its scratch: 64 floats.
template <class = void>
void int8_row_strip(const detail::strip& s) noexcept {
  const int bits = s.layout.bits;
  if (bits == 8)
    s.layout.span == 1 ? int8_few_rows<8, 1, few_rows(8)>(s) : int8_few_rows<8, detail::long_span, few_rows(8)>(s);
  if (bits == 2) int8_few_rows<2, 1, few_rows(2)>(s);
  if (bits == 3) int8_few_rows<3, 1, few_rows(3)>(s);
  if (bits == 4) int8_few_rows<4, 1, few_rows(4)>(s);
  if (bits == 5) int8_few_rows<5, 1, few_rows(5)>(s);
  if (bits == 6) int8_few_rows<6, 1, few_rows(6)>(s);
  s.table->finish(s, s.sums, 32, 0, s.x->rows);
}

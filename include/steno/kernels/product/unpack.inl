// steno/kernels/product/unpack.inl - packed weights into what the int8 tiles read, compiled per instruction set.
//
// Bytes of a tile and f32 scales and minima, a piece of a group that stays in the first-level cache (layout:
// packed_layout.hpp). Each block is unpacked once for all rows of x that meet it. Written with the compilers' vectors
// of `byte_lanes` bytes. Eight bits are read in place: only their scales are widened.
// SPDX-License-Identifier: Apache-2.0

typedef std::uint8_t byte_vector __attribute__((vector_size(byte_lanes)));
typedef std::uint16_t pair_vector __attribute__((vector_size(byte_lanes)));

STENO_INLINE byte_vector load_bytes(const std::byte* p) {
  byte_vector v;
  std::memcpy(&v, p, byte_lanes);
  return v;
}
/// Bits moved down by N (up by -N), across the bytes of a pair: mask the result.
template <int N>
STENO_INLINE byte_vector shifted(byte_vector v) {
  const pair_vector p = reinterpret_cast<pair_vector>(v);
  if constexpr (N >= 0) return reinterpret_cast<byte_vector>(p >> static_cast<std::uint16_t>(N));
  if constexpr (N < 0) return reinterpret_cast<byte_vector>(p << static_cast<std::uint16_t>(-N));
}

/// Where vector J's lowest bits lie in a block, and its upper ones, of three, five and six bits.
template <int Bits, int J>
inline constexpr std::size_t lower_at = 64 * (J % detail::low_bits(Bits));
template <int Bits, int J>
inline constexpr std::size_t upper_at = 64 * (detail::low_bits(Bits) + (Bits == 6 && J >= 4));
template <int Bits>
inline constexpr bool has_upper = Bits != detail::low_bits(Bits);

/// Vector J of a tile, without bias, of what lies at these places.
template <int Bits, int J>
STENO_INLINE byte_vector quants_of(byte_vector lower, [[maybe_unused]] byte_vector upper) {
  if constexpr (Bits == 8) return lower;
  constexpr int low = detail::low_bits(Bits);
  const std::uint8_t lowest = (1 << low) - 1, next = 1 << low % 8, two = 48;
  byte_vector quants = shifted<J / low * low>(lower) & lowest;
  if constexpr (Bits - low == 1) quants |= shifted<J - low>(upper) & next;
  if constexpr (Bits - low == 2) quants |= shifted<2 * (J % 4) - 4>(upper) & two;
  return quants;
}
/// The same of a block as packed_layout.hpp has it; with fewer lanes than 64, its first bytes.
template <int Bits, int J>
STENO_INLINE byte_vector quants_of(const std::byte* block) {
  const byte_vector lower = load_bytes(block + lower_at<Bits, J>);
  if constexpr (has_upper<Bits>) return quants_of<Bits, J>(lower, load_bytes(block + upper_at<Bits, J>));
  return quants_of<Bits, J>(lower, lower);
}
/// A tile: all of its vectors before the first is written, so that what several have in common is loaded once.
template <int Bits, int... J>
STENO_INLINE void unpack_tile(std::integer_sequence<int, J...>, const std::byte* in, std::uint8_t bias,
                              std::byte* out) {
  for (int i = 0; i < 64; i += byte_lanes) {
    const byte_vector v[] = {quants_of<Bits, J>(in + i) + bias...};
    (std::memcpy(out + 64 * J + i, v + J, byte_lanes), ...);
  }
}

STENO_INLINE f32x16 halves_at(const std::byte* p) {
  alignas(32) std::uint16_t h[16];
  std::memcpy(h, p, sizeof h);
  return load_f16(h);
}

template <class = void>
void unpack(const detail::unpack_job& job) noexcept {
  const detail::block_layout l = job.layout;
  float *scales = job.scales, *minima = job.minima;
  if (l.bits == 8) {
    for (extent s = 0; s < job.count / l.span; ++s) {
      if (s % 2 == 0) __builtin_prefetch(job.ahead + 32 * s, 0, 2);
      store(scales + 16 * s, halves_at(job.in + 32 * s));
    }
    return;
  }
  const std::byte *in = job.in, *ahead = job.ahead;
  std::byte* out = job.quants;
  const auto bias = static_cast<std::uint8_t>(job.biased ? l.bias : 0);
  f32x16 scale = zero(), minimum = zero();
  for (extent b = 0; b < job.count; ++b, out += detail::group_quants) {
    if (l.super && b % 8 == 0) {
      scale = halves_at(in);
      if (l.minima) minimum = halves_at(in + 32);
      in += l.minima ? 64 : 32;
    }
    if (job.fetches)
      for (std::size_t line = 0; line < l.plane_bytes(); line += 128) __builtin_prefetch(ahead + line, 0, 2);
    ahead += l.block_bytes();
    constexpr std::make_integer_sequence<int, 8> vectors;
    if (l.bits == 2) unpack_tile<2>(vectors, in, bias, out);
    if (l.bits == 3) unpack_tile<3>(vectors, in, bias, out);
    if (l.bits == 4) unpack_tile<4>(vectors, in, bias, out);
    if (l.bits == 5) unpack_tile<5>(vectors, in, bias, out);
    if (l.bits == 6) unpack_tile<6>(vectors, in, bias, out);
    in += l.plane_bytes();
    for (std::size_t v = 0; v < l.vectors(); ++v, scales += 16, in += l.super ? 16 : 32)
      store(scales, l.super ? scale * load_i8(reinterpret_cast<const std::int8_t*>(in)) : halves_at(in));
    if (l.minima)
      for (std::size_t v = 0; v < l.vectors(); ++v, minima += 16, in += l.super ? 16 : 32)
        store(minima, l.super ? minimum * load_i8(reinterpret_cast<const std::int8_t*>(in)) : halves_at(in));
  }
}

// steno/frontends/lfr.hpp - low frame rate: row r is frames r n - (m - 1) / 2 .. + m - 1 side by side.
//
// Frames before the first are copies of the first, frames after the last are copies of the last; T frames give
// ceil(T / n) rows. [T, W] -> [ceil(T / n), m W]. Follows FunASR's apply_lfr (wav_frontend.py), and its online form.
// Tested in tests/frontends/lfr_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/context.hpp>
#include <steno/error.hpp>

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// Stacks M frames of `Width` values every N frames, so that an encoder sees fewer and longer rows. Const and shared; a
/// stream owns its state.
template <extent Width = dynamic, extent M = dynamic, extent N = dynamic>
class lfr {
 public:
  static constexpr extent input = Width, output = core::times(M, Width);
  static constexpr std::string_view name = "lfr";  ///< of the traced stage

  /// The last frames that later rows need. Copyable.
  struct state {
    std::vector<float> carry;  ///< frames first .. seen - 1
    extent first = 0;          ///< frame that `carry` begins with
    extent seen = 0;           ///< frames that have come
    extent next = 0;           ///< row that is written next
  };

  /// Of static sizes.
  lfr() requires(core::is_static(Width) && core::is_static(M) && core::is_static(N)) : lfr(Width, M, N) {}
  /// `m` frames of `width` values stacked every `n` frames; throws steno::error for sizes below 1 or unlike the type's.
  STENO_COLD lfr(extent width, extent m, extent n) {
    if (!width_.adopt(width) || !m_.adopt(m) || !n_.adopt(n) || std::min({width, m, n}) < 1 || width > 1 << 20 ||
        std::max(m, n) > 1 << 10)
      fail({.what = "low frame rate of the front end (width, m, n)",
            .expected = size_text(Width, M, N) + ", m and n from 1 to 1024",
            .found = size_text(width, m, n)});
  }

  extent frame_width() const noexcept { return width_.get(); }   ///< values of each frame
  extent m() const noexcept { return m_.get(); }                 ///< frames side by side in a row
  extent n() const noexcept { return n_.get(); }                 ///< frames from one row to the next
  extent width() const noexcept { return m() * frame_width(); }  ///< values of each row
  /// Rows that so many frames give: ceil(frames / n).
  extent rows(extent frames) const noexcept { return (frames + n() - 1) / n(); }

  state start() const { return {.carry = std::vector<float>(static_cast<std::size_t>((m() - 1) * frame_width()))}; }
  /// Rows whose frames are all there with `frames` more: rows that accept() writes.
  extent ready(const state& s, extent frames) const { return std::max(complete(s.seen + frames), s.next) - s.next; }
  extent at_end(const state& s, extent frames) const { return rows(s.seen + frames) - s.next; }

  /// Takes the next frames of a stream and writes the rows that are complete now to y [ready(s, n), m W].
  void accept(state& s, const view<const float>& x, view<float> y, context&) const {
    assert(y.rows() == ready(s, x.rows()));
    stack(s, x, y);
    s.next += y.rows();
    keep(s, x);
  }
  /// Takes the last frames (perhaps none), writes the rest, for which the last frame is repeated, to y [at_end(s, n), m
  /// W] and leaves the state as start() made it.
  void finish(state& s, const view<const float>& x, view<float> y, context&) const {
    assert(y.rows() == at_end(s, x.rows()));
    stack(s, x, y);
    s.first = s.seen = s.next = 0;
  }
  /// The rows of a whole clip, y [rows(n), m W].
  void operator()(const view<const float>& x, view<float> y, context&) const {
    assert(y.rows() == rows(x.rows()));
    stack(state{}, x, y);
  }

 private:
  struct width_tag : core::size_of<Width> {};
  struct m_tag : core::size_of<M> {};
  struct n_tag : core::size_of<N> {};

  STENO_COLD static std::string size_text(extent w, extent m, extent n) {
    const auto one = [](extent e) { return core::is_static(e) ? std::to_string(e) : std::string("any"); };
    return one(w) + ", " + one(m) + ", " + one(n);
  }
  extent left() const noexcept { return (m() - 1) / 2; }
  /// Rows whose frames are all among the first `frames`.
  extent complete(extent frames) const noexcept {
    const extent spare = frames - m() + left();
    return spare < 0 ? 0 : spare / n() + 1;
  }

  /// Writes rows s.next .. of y from the carried frames and x.
  void stack(const state& s, const view<const float>& x, view<float>& y) const {
    const extent w = frame_width(), total = s.seen + x.rows();
    for (extent r = 0; r < y.rows(); ++r) {
      float* to = y.data() + r * y.outerStride();
      for (extent j = 0; j < m(); ++j, to += w) {
        const extent f = std::clamp((s.next + r) * n() - left() + j, extent{0}, total - 1);
        const float* from =
            f >= s.seen ? x.data() + (f - s.seen) * x.outerStride() : s.carry.data() + (f - s.first) * w;
        std::copy_n(from, w, to);
      }
    }
  }

  /// Carries the frames from the start of row s.next on; there are fewer than m of them.
  void keep(state& s, const view<const float>& x) const {
    const extent w = frame_width(), total = s.seen + x.rows();
    const extent first = std::clamp(s.next * n() - left(), extent{0}, total);
    for (extent f = first; f < total; ++f) {  // ascending, so frames move down within the buffer safely
      const float* from = f >= s.seen ? x.data() + (f - s.seen) * x.outerStride() : s.carry.data() + (f - s.first) * w;
      std::copy_n(from, w, s.carry.data() + (f - first) * w);
    }
    s.first = first;
    s.seen = total;
  }

  STENO_NO_UNIQUE_ADDRESS width_tag width_;
  STENO_NO_UNIQUE_ADDRESS m_tag m_;
  STENO_NO_UNIQUE_ADDRESS n_tag n_;
};

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno

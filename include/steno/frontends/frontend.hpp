// steno/frontends/frontend.hpp - what a front end is, and how stages are linked: samples in, rows of features out.
//
// Offline and streaming are one code: a `state` value carries what later rows still need, accept() takes a piece of any
// size and writes the rows that are now complete, finish() takes the last piece (perhaps empty) and writes the rest.
// The rows have the same bits however the input is cut. Tested in tests/frontends/wav_frontend_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/copyable.hpp>

#include <concepts>
#include <span>
#include <string_view>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace frontends {

/// The inputs of stages: samples for the first one, rows for the others.
using samples = std::span<const float>;
inline extent length(const samples& pcm) noexcept { return static_cast<extent>(pcm.size()); }
inline extent length(const view<const float>& rows) { return rows.rows(); }

/// A stage that turns `In` (samples or rows) into rows of width() values. Const and shared; a stream owns its state.
/// `rows(n)` is what a whole input of n gives; `ready(s, n)` what accept() of n more writes; `at_end(s, n)` what
/// finish() with n more writes. `out` has exactly that many rows. finish() leaves the state as start() made it.
template <class F, class In>
concept stage_of = requires(const F& f, typename F::state& s, const typename F::state& known, extent n, const In& in,
                            view<float> out, context& c) {
  requires core::copyable<typename F::state>;
  { F::output } -> std::convertible_to<extent>;
  { F::name } -> std::convertible_to<std::string_view>;  // of the traced stage
  { f.width() } -> std::same_as<extent>;
  { f.rows(n) } -> std::same_as<extent>;
  { f.start() } -> std::same_as<typename F::state>;
  { f.ready(known, n) } -> std::same_as<extent>;
  { f.at_end(known, n) } -> std::same_as<extent>;
  {f.accept(s, in, out, c)};
  {f.finish(s, in, out, c)};
  {f(in, out, c)};  // a whole input at once
};

/// PCM samples to rows of features.
template <class F>
concept frontend = stage_of<F, samples>;

namespace detail {
/// A stage that may write over its own input: one row in, one row out.
template <class S>
concept row_by_row = requires {
  requires S::row_by_row;
};
}  // namespace detail

/// `Head` followed by `Last`. Rows between them live in the context's scratch for the length of one call: offline that
/// is the whole clip (fbank of an hour: 115 MB), which tracing needs anyway; pieces through accept() bound it.
template <class Head, stage_of<view<const float>> Last>
class linked {
 public:
  static_assert(core::compatible(Head::output, Last::input), "stages of a front end do not fit: widths differ");
  /// Values of each row, or `dynamic`.
  static constexpr extent output = Last::output;
  static constexpr std::string_view name = Last::name;  ///< of the traced stage: the last one's

  /// What a stream keeps: the states of both stages. Copyable.
  struct state {
    typename Head::state head;  ///< of the stage that takes the input
    typename Last::state last;  ///< of the stage that gives the rows
  };

  /// From default-made stages.
  linked() = default;
  /// From two stages, whose widths must fit; run-time widths are not compared here.
  linked(Head h, Last l) : head(std::move(h)), last(std::move(l)) {}

  extent width() const noexcept { return last.width(); }  ///< values of each row: those of the last stage
  extent rows(extent n) const noexcept { return last.rows(head.rows(n)); }  ///< that a whole input of n gives
  state start() const { return {head.start(), last.start()}; }
  /// Rows that accept() of `n` more samples or rows writes.
  extent ready(const state& s, extent n) const { return last.ready(s.last, head.ready(s.head, n)); }
  extent at_end(const state& s, extent n) const { return last.at_end(s.last, head.at_end(s.head, n)); }

  /// Takes the next piece `in` (samples or rows) and writes the rows that are complete now to `out` [ready(s, n),
  /// width].
  void accept(state& s, const auto& in, view<float> out, context& c) const {
    between(
        head.ready(s.head, length(in)), out, c, [&](view<float> mid) { head.accept(s.head, in, mid, c); },
        [&](const view<const float>& mid) { last.accept(s.last, mid, out, c); });
  }
  /// Takes the last piece (perhaps empty), writes the rest to `out` [at_end(s, n), width] and leaves the state as
  /// start() made it.
  void finish(state& s, const auto& in, view<float> out, context& c) const {
    between(
        head.at_end(s.head, length(in)), out, c, [&](view<float> mid) { head.finish(s.head, in, mid, c); },
        [&](const view<const float>& mid) { last.finish(s.last, mid, out, c); });
  }
  /// A whole input at once, `out` [rows(n), width].
  void operator()(const auto& in, view<float> out, context& c) const {
    between(
        head.rows(length(in)), out, c, [&](view<float> mid) { head(in, mid, c); },
        [&](const view<const float>& mid) { last(mid, out, c); });
  }

  void members(auto&& v) {
    if constexpr (requires { head.members(v); }) head.members(v);
    if constexpr (requires { last.members(v); }) v(Last::name, last);
  }

  Head head;  ///< the stage that takes the input
  Last last;  ///< the stage that gives the rows

 private:
  static constexpr bool traces_itself = requires(Head h) { h.head; };

  void between(extent n, view<float>& out, context& c, auto&& first, auto&& second) const {
    core::workspace::frame f(c.scratch);
    view<float> mid = detail::row_by_row<Last> ? core::make_view(out.data(), out.rows(), out.cols(), out.outerStride())
                                               : f.matrix(n, head.width());
    first(view<float>(mid));
    if constexpr (!traces_itself) c.trace(Head::name, mid);
    second(core::read(mid));
    c.trace(Last::name, out);
  }
};

namespace detail {
template <class Head, class... Rest>
struct link_all {
  using type = Head;
};
template <class Head, class Next, class... Rest>
struct link_all<Head, Next, Rest...> : link_all<linked<Head, Next>, Rest...> {};
}  // namespace detail

/// A front end from its stages in order: frontend_chain<fbank<80>, lfr<80, 7, 6>, cmvn<560>>.
template <class... Stages>
using frontend_chain = typename detail::link_all<Stages...>::type;

}  // namespace frontends
}  // namespace STENO_ABI
}  // namespace steno

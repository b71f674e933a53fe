// steno/core/parts.hpp - values of several types, one after another, reached by their number: what a stack is made of.
//
// An aggregate without constructors. `std::tuple` does the same, but decides for each of its constructors whether it
// may be called, and with which conversions: for stacks of layers, a twelfth of the time that clang 14 needs for
// all headers. Tested in tests/core/parts_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace core {

namespace detail {
template <std::size_t I, class T>
struct numbered {
  T value{};
};
template <class Numbers, class... T>
struct all_numbered;
template <std::size_t... I, class... T>
struct all_numbered<std::index_sequence<I...>, T...> : numbered<I, T>... {
  template <class F>
  void each(F&& f) {
    (f(static_cast<numbered<I, T>&>(*this).value), ...);
  }
  template <class F>
  void each(F&& f) const {
    (f(static_cast<const numbered<I, T>&>(*this).value), ...);
  }
  template <class Result, class F>
  Result map(F&& f) const {
    return Result{{{f(static_cast<const numbered<I, T>&>(*this).value)}...}};
  }
};
}  // namespace detail

/// A value of each type, all of them default-made at first. each(f) calls f with every one, in order;
/// map<parts<...>>(f) gives the parts that f makes of them.
template <class... T>
struct parts : detail::all_numbered<std::index_sequence_for<T...>, T...> {};

/// Whether T is such parts.
template <class T>
inline constexpr bool is_parts = false;
template <class... T>
inline constexpr bool is_parts<parts<T...>> = true;

/// Part I, from 0.
template <std::size_t I, class T>
constexpr T& part(detail::numbered<I, T>& p) noexcept {
  return p.value;
}
template <std::size_t I, class T>
constexpr const T& part(const detail::numbered<I, T>& p) noexcept {
  return p.value;
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno

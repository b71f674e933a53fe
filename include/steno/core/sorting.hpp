// steno/core/sorting.hpp - stable sorting by merging, compiled once for all types; sorting as GNU's std::sort.
//
// What is sorted are numbers of elements, by a comparison behind a pointer: each `std::sort` of another type or order
// is 3 to 6 kB of machine code, `std::stable_sort` as much. An order that contradicts itself, as of numbers with NaN
// among them, gives an arbitrary order, and no access outside of the list. Tested in tests/core/sorting_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace core {

namespace detail {
using precedes = bool (*)(const void* order, std::size_t a, std::size_t b);

/// Runs of 1, 2, 4, ... numbers are merged, to and fro between the halves of `places`.
[[gnu::noinline]] inline void merge_places(std::vector<std::size_t>& places, std::size_t count, const void* order,
                                           precedes less) {
  places.resize(2 * count);
  std::size_t *from = places.data(), *to = from + count;
  for (std::size_t i = 0; i < count; ++i) from[i] = i;
  for (std::size_t run = 1; run < count; run *= 2) {
    for (std::size_t begin = 0; begin < count; begin += 2 * run) {
      const std::size_t middle = std::min(begin + run, count), end = std::min(middle + run, count);
      std::size_t a = begin, b = middle;
      for (std::size_t i = begin; i < end; ++i)
        to[i] = b == end || (a != middle && !less(order, from[b], from[a])) ? from[a++] : from[b++];
    }
    std::swap(from, to);
  }
  if (from != places.data())
    for (std::size_t i = 0; i < count; ++i) places[i] = from[i];
  places.resize(count);
}
}  // namespace detail

/// The numbers 0 .. count - 1 in the order of less(a, b), which says whether element a belongs before element b; of
/// equal ones the lower number first. Allocates nothing where `places` once held 2 * count.
template <class Less>
void sort_places(std::vector<std::size_t>& places, std::size_t count, const Less& less) {
  detail::merge_places(places, count, &less, [](const void* order, std::size_t a, std::size_t b) -> bool {
    return (*static_cast<const Less*>(order))(a, b);
  });
}

/// Sorts a vector or span; of equal ones the earlier one stays before the later one. `places` is scratch.
template <class List, class Less>
void sort_stably(List&& all, std::vector<std::size_t>& places, const Less& less) {
  sort_places(places, all.size(), [&](std::size_t a, std::size_t b) { return less(all[a], all[b]); });
  // places[i] is where that comes from which belongs at i: circles, and each is walked once.
  for (std::size_t first = 0; first < places.size(); ++first) {
    std::size_t at = first;
    while (places[at] != first) {
      const std::size_t from = places[at];
      std::swap(all[at], all[from]);
      places[at] = at;
      at = from;
    }
    places[at] = at;
  }
}
/// The same with scratch of its own.
template <class List, class Less>
void sort_stably(List&& all, const Less& less) {
  std::vector<std::size_t> places;
  sort_stably(all, places, less);
}
/// Sorts by `<`.
template <class List>
void sort_stably(List&& all) {
  sort_stably(all, [](const auto& a, const auto& b) { return a < b; });
}

namespace detail {
// Parts of up to so many elements are left to the insertions at the end.
inline constexpr std::ptrdiff_t inserted_part = 16;

template <class T, class Less>
void insert_before(T* first, T* at, const Less& less) {
  T value = std::move(*at);
  if (less(value, *first)) {
    std::move_backward(first, at, at + 1);
    at = first;
  } else {
    for (; less(value, *(at - 1)); --at) *at = std::move(*(at - 1));
  }
  *at = std::move(value);
}
// Those before `at` are not all larger.
template <class T, class Less>
void insert_unguarded(T* at, const Less& less) {
  T value = std::move(*at);
  for (; less(value, *(at - 1)); --at) *at = std::move(*(at - 1));
  *at = std::move(value);
}
// The median of three others comes to the front, and parts the rest.
template <class T, class Less>
T* parted(T* first, T* last, const Less& less) {
  T *const a = first + 1, *const b = first + (last - first) / 2, *const c = last - 1;
  if (less(*a, *b))
    std::swap(*first, less(*b, *c) ? *b : less(*a, *c) ? *c : *a);
  else
    std::swap(*first, less(*a, *c) ? *a : less(*b, *c) ? *c : *b);
  for (T* low = first + 1;; ++low) {
    while (less(*low, *first)) ++low;
    for (--last; less(*first, *last);) --last;
    if (!(low < last)) return low;
    std::swap(*low, *last);
  }
}
template <class T, class Less>
void sort_parts(T* first, T* last, int depth, const Less& less) {
  while (last - first > inserted_part) {
    if (depth-- == 0) {  // an order made to be slow; here equal elements may lie otherwise
      std::make_heap(first, last, less);
      std::sort_heap(first, last, less);
      return;
    }
    T* const middle = parted(first, last, less);
    sort_parts(middle, last, depth, less);
    last = middle;
  }
}
}  // namespace detail

/// Sorts as GNU's `std::sort` does, with any standard library: a sort leaves open how equal elements lie, and originals
/// (PyTorch is built with GNU's) show it in their results. Introsort: Musser, 1997. `less` must not contradict itself.
template <class T, class Less>
void sort_as_gnu(std::span<T> all, const Less& less) {
  T *const first = all.data(), *const last = first + all.size();
  detail::sort_parts(first, last, 2 * static_cast<int>(std::bit_width(all.size()) - (all.empty() ? 0 : 1)), less);
  T* at = first;
  if (at != last) ++at;
  for (; at < last && at - first < detail::inserted_part; ++at) detail::insert_before(first, at, less);
  for (; at < last; ++at) detail::insert_unguarded(at, less);
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno

// steno/core/members.hpp - walking the members of a layer: one place that turns member names into checkpoint names.
//
// A layer says `void members(auto&& v) { v("norm1", norm1); v("self_attn", self_attn); }`. Weights and settings are the
// leaves; the path of names is the tensor's name in the checkpoint. Loading, counting, listing, packing are leaf
// functions over `walk`. A third argument, `stored`, is for those that read foreign checkpoints. Tested in
// tests/core/members_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>
#include <steno/core/extents.hpp>
#include <steno/core/stored.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// A hyper-parameter that tensors do not show (number of heads, ...): static, or adopted from the file. What a file
/// gives is a whole number from Min to Max; until then (and where the file's was refused) it is Min.
template <extent N, extent Min = 1, extent Max = 65536>
struct setting : size_of<N> {
  static constexpr extent static_value = N;  ///< the value, or `dynamic` when a file gives it
  static constexpr extent min = Min;         ///< smallest value that a file may give
  static constexpr extent max = Max;         ///< largest value that a file may give
  static_assert(!is_static(N) || (N >= Min && N <= Max), "steno: a setting outside of its own range");
  constexpr setting() : size_of<N>(Min) {}
  /// The value `n` when N is dynamic; it is not compared with Min and Max.
  constexpr explicit setting(extent n) : size_of<N>(n) {}
};
/// A setting that is 0 or 1.
template <extent N>
using flag = setting<N, 0, 1>;

namespace detail {
struct any_visitor {
  template <class T>
  void operator()(std::string_view, T&, const stored& = {}) {}
  template <class T>
  void optional(std::string_view, T&) {}
  void equal(std::string_view, extent, extent) {}
  void within(std::string_view, extent, extent, extent) {}
  void require(bool, std::string_view, std::string_view, extent) {}
  std::optional<extent> count() { return std::nullopt; }
};
}  // namespace detail

/// A weight: the extents and the number format are part of its type.
template <class T>
concept weight_leaf = requires {
  T::static_rows, T::static_cols, T::static_format;
};
/// A setting: see `setting`.
template <class T>
concept setting_leaf = requires {
  T::static_value;
};
/// Something with named members below it.
template <class T>
concept composite = requires(T& t, detail::any_visitor v) {
  t.members(v);
};

/// Calls leaf(path, weight_or_setting, optional) for every leaf below `t`, depth first, in the order of members().
/// A leaf function may also have equal(path, what, a, b), called for sizes that must agree, within(path, what, value,
/// low, high), for numbers that index something, require(path, ok, what, expected, found), for whatever else must hold,
/// and count(path) -> optional<extent>, which gives the number of numbered members of a dynamic `repeat`. One that
/// names a type `reads_stored` is called with what stands beside the weight's name, too: leaf(path, weight_or_setting,
/// optional, stored).
template <class Leaf>
class member_walker {
 public:
  /// Calls `leaf`, which must outlive the walker. `path` stands in front of all names.
  explicit member_walker(Leaf& leaf, std::string path = {}) : leaf_(leaf), path_(std::move(path)) {}

  template <class T>
  STENO_COLD void operator()(std::string_view name, T& child) {
    visit(name, child, false);
  }
  /// A member that checkpoints store otherwise.
  template <class T>
  void operator()(std::string_view name, T& child, [[maybe_unused]] const stored& how) {
    if constexpr (reads_stored) {
      const stored outer = how_;
      how_ = how;
      (*this)(name, child);
      how_ = outer;
    } else {
      (*this)(name, child);
    }
  }
  /// The member may be absent from the checkpoint.
  template <class T>
  void optional(std::string_view name, T& child) {
    visit(name, child, true);
  }
  /// The sizes `a` and `b`, which `what` names, must agree.
  STENO_COLD void equal(std::string_view what, extent a, extent b) {
    if constexpr (requires { leaf_.equal(path_, what, a, b); }) leaf_.equal(path_, what, a, b);
  }
  /// `value`, which `what` names, must lie from `low` to `high`.
  STENO_COLD void within(std::string_view what, extent value, extent low, extent high) {
    if constexpr (requires { leaf_.within(path_, what, value, low, high); })
      leaf_.within(path_, what, value, low, high);
  }
  /// `what` was `found`, and `ok` says whether it is what is `expected`: "an even number".
  STENO_COLD void require(bool ok, std::string_view what, std::string_view expected, extent found) {
    if constexpr (requires { leaf_.require(path_, ok, what, expected, found); })
      leaf_.require(path_, ok, what, expected, found);
  }
  /// Number of members that the source has under the present path, for a dynamic `repeat`; nothing when the leaf
  /// function does not count.
  std::optional<extent> count() {
    if constexpr (requires { leaf_.count(path_); }) return leaf_.count(path_);
    return std::nullopt;
  }

 private:
  static constexpr bool reads_stored = requires { typename Leaf::reads_stored; };

  template <class T>
  void visit(std::string_view name, T& child, bool optional) {
    const std::size_t mark = path_.size();
    const bool outer = optional_;
    enter(name, optional);
    if constexpr ((weight_leaf<T> || setting_leaf<T>)&&reads_stored)
      leaf_(path_, child, optional_, how_);
    else if constexpr (weight_leaf<T> || setting_leaf<T>)
      leaf_(path_, child, optional_);
    else
      child.members(*this);
    path_.resize(mark);
    optional_ = outer;
  }
  STENO_COLD void enter(std::string_view name, bool optional) {
    optional_ = optional_ || optional;
    if (name.empty()) return;
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }

  Leaf& leaf_;
  std::string path_;
  bool optional_ = false;
  struct nothing {};
  STENO_NO_UNIQUE_ADDRESS std::conditional_t<reads_stored, stored, nothing> how_ = {};
};

/// Walks the members of `t`; see member_walker.
template <composite T, class Leaf>
void walk(T& t, Leaf&& leaf) {
  member_walker<std::remove_reference_t<Leaf>> walker(leaf);
  t.members(walker);
}

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno

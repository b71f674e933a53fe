// steno/layers/kv_sequences.hpp - which rows of a decoder's caches belong to which text.
//
// All layers of a decoder append the same rows, so one object says for all of them what each row is: a sequence is a
// list of row numbers, oldest first. Beams that fork copy numbers, not keys; several texts that are written at once lie
// in one cache. extend() says what the next call brings; then every layer of the stack reads it from the record
// (`env.sequences`) and each row sees what came before it in its own sequence. Tested in
// tests/layers/kv_sequences_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>
#include <steno/core/extents.hpp>
#include <steno/core/parts.hpp>

#include <algorithm>
#include <cassert>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nn {

/// Copyable; memory is kept when sequences are dropped.
class kv_sequences {
 public:
  /// How rows are kept: f32, f16 or q8_0. May change while there are none.
  dtype format = dtype::f32;

  /// Sequences there are.
  extent size() const noexcept { return count_; }
  /// Rows of one; 0 where there is none. The position of its next row.
  extent length(extent sequence = 0) const noexcept {
    return sequence < count_ ? static_cast<extent>(rows_of(sequence).size()) : 0;
  }
  /// Drops all sequences; the format stays.
  void clear() noexcept { count_ = used_ = added_ = 0; }

  /// Forgets all but the first `count` rows of a sequence, so that it goes on differently.
  void rewind(extent count, extent sequence = 0) {
    if (sequence >= count_) return;
    auto& rows = rows_of(sequence);
    rows.resize(std::min(rows.size(), static_cast<std::size_t>(std::max<extent>(count, 0))));
    used_ = 0;
    for (extent s = 0; s < count_; ++s)
      if (!rows_of(s).empty()) used_ = std::max(used_, rows_of(s).back() + 1);
  }
  /// Sequence i continues what sources[i] was; their number may change.
  void fork(std::span<const int> sources) {
    const auto n = static_cast<extent>(sources.size());
    if (other_.size() < sources.size()) other_.resize(sources.size());
    for (extent i = 0; i < n; ++i) {
      assert(sources[static_cast<std::size_t>(i)] < count_);
      const auto& from = rows_of(sources[static_cast<std::size_t>(i)]);
      auto& to = other_[static_cast<std::size_t>(i)];
      if (to.capacity() < std::max(longest, from.size())) to.reserve(std::max(longest, from.size()));
      to.assign(from.begin(), from.end());
    }
    lists_.swap(other_);
    count_ = n;
  }

  /// The next call brings `count` rows of one sequence, which is made where it is new.
  void extend(extent count, extent sequence = 0) {
    make(sequence + 1);
    begin_call();
    add(sequence, count);
  }
  /// The next call brings a row of each of these.
  void extend_each(std::span<const int> sequences) {
    begin_call();
    for (const int s : sequences) add(s, 1);
  }
  /// The next call brings a row of each sequence; there are `count` of them, made where they are new.
  void extend_each(extent count) {
    make(count);
    begin_call();
    for (extent s = 0; s < count_; ++s) add(s, 1);
  }
  /// The next call brings whole sequences, and nothing came before them: sequence i is rows begin[i] .. begin[i + 1] -
  /// 1 of it.
  void begin_with(std::span<const extent> begin) {
    clear();
    make(static_cast<extent>(begin.size()) - 1);
    begin_call();
    for (std::size_t i = 0; i + 1 < begin.size(); ++i) add(static_cast<extent>(i), begin[i + 1] - begin[i]);
  }

  // What a layer reads:

  /// Rows in the caches before this call.
  extent before() const noexcept { return used_ - added_; }
  /// Rows of the call, of all sequences.
  extent added() const noexcept { return added_; }
  /// Rows of the call that belong to one sequence.
  struct part {
    extent first;                  ///< row of the call
    extent count;                  ///< rows of the call
    std::span<const extent> rows;  ///< of the cache, these among them
    /// Whether they lie one after the other.
    bool in_a_row() const noexcept {
      return rows.empty() || rows.back() - rows.front() + 1 == static_cast<extent>(rows.size());
    }
    /// Position of row i of the part.
    extent position(extent i) const noexcept { return static_cast<extent>(rows.size()) - count + i; }
  };
  /// f(part) for the parts of the call, in order.
  template <class F>
  void each_part(F&& f) const {
    extent first = 0;
    for (const auto& [sequence, count] : call_) {
      f(part{.first = first, .count = count, .rows = rows_of(sequence)});
      first += count;
    }
  }

 private:
  static constexpr std::size_t longest = 512;  // what Whisper writes; longer lists grow

  std::vector<extent>& rows_of(extent s) noexcept { return lists_[static_cast<std::size_t>(s)]; }
  const std::vector<extent>& rows_of(extent s) const noexcept { return lists_[static_cast<std::size_t>(s)]; }
  void make(extent count) {
    if (lists_.size() < static_cast<std::size_t>(count)) lists_.resize(static_cast<std::size_t>(count));
    for (; count_ < count; ++count_) rows_of(count_).clear();
  }
  void begin_call() noexcept {
    call_.clear();
    added_ = 0;
  }
  void add(extent sequence, extent count) {
    assert(sequence < count_);
    auto& rows = rows_of(sequence);
    if (rows.capacity() < longest) rows.reserve(longest);
    for (extent i = 0; i < count; ++i) rows.push_back(used_ + i);
    call_.emplace_back(sequence, count);
    used_ += count;
    added_ += count;
  }

  std::vector<std::vector<extent>> lists_, other_;
  std::vector<std::pair<extent, extent>> call_;  // sequence and number of rows
  extent count_ = 0, used_ = 0, added_ = 0;
};

namespace detail {
/// Bytes that the parts of a state hold which say so.
template <class S>
std::size_t bytes_held(const S& s) {
  std::size_t sum = 0;
  if constexpr (requires { s.bytes(); })
    sum = s.bytes();
  else if constexpr (requires { s.begin(); })
    for (const auto& part : s) sum += bytes_held(part);
  else if constexpr (core::is_parts<S>)
    s.each([&](const auto& part) { sum += bytes_held(part); });
  return sum;
}
}  // namespace detail

/// What a decoder keeps from call to call: the state of its stack, and what the rows of its caches are. Copyable. A new
/// one is empty.
template <class StackState>
struct decoder_state {
  kv_sequences sequences = {};  ///< which rows of the caches belong to which text

  /// The state of this stack, begun by the first call; other calls must bring the same.
  template <class Stack>
  StackState& of(const Stack& stack) {
    if (!started_) stack_ = stack.start();
    started_ = true;
    return stack_;
  }
  /// Bytes that keys and values hold.
  std::size_t bytes() const { return detail::bytes_held(stack_); }

  /// Position of the next row of a sequence.
  extent length(extent sequence = 0) const noexcept { return sequences.length(sequence); }
  /// Drops all texts. Rows of the caches stay until the next call writes over them.
  void clear() noexcept { sequences.clear(); }
  /// Forgets all but the first `count` rows of a sequence, so that it goes on differently.
  void rewind(extent count, extent sequence = 0) { sequences.rewind(count, sequence); }
  /// Sequence i continues what sources[i] was; their number may change.
  void fork(std::span<const int> sources) { sequences.fork(sources); }

 private:
  StackState stack_ = {};
  bool started_ = false;
};

}  // namespace nn
}  // namespace STENO_ABI
}  // namespace steno

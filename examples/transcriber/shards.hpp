// A list that is shared among machines which do not talk to each other: each computes all of it, and takes its part.
//
// The longest recording goes first, each to the shard that has the least so far (the greedy rule of Graham, 1969: no
// shard has more than 4/3 of what the best sharing would give the fullest). Where nothing is known of lengths, shard i
// of n takes every n-th recording. Tested in tests/transcriber/shards_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

/// Part `index` of `count`: 0/3, 1/3, 2/3 share a list among three, and 1/3, 2/3, 3/3 do too.
struct shard {
  std::size_t index = 0, count = 1;
  std::size_t number() const { return index % count; }
};
/// "2/8"; nothing when it is not of this form or out of range.
std::optional<shard> parse_shard(std::string_view text);

/// Which of `count` shards takes each recording of `seconds` (0: unknown). The same on every machine.
std::vector<std::size_t> balanced_shards(const std::vector<double>& seconds, std::size_t count);

/// About how long a recording is, by the size of its file alone; 0 when there is none. Opening it would cost much more,
/// and what is compared are recordings of one kind.
double seconds_by_size(const std::string& path);

}  // namespace steno::app

// SPDX-License-Identifier: Apache-2.0
#include "shards.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <numeric>
#include <queue>
#include <tuple>

#include "utf8_path.hpp"

namespace steno::app {

std::optional<shard> parse_shard(std::string_view text) {
  shard s;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, s.index);
  if (index.ec != std::errc() || index.ptr == end || *index.ptr != '/') return std::nullopt;
  const auto count = std::from_chars(index.ptr + 1, end, s.count);
  if (count.ec != std::errc() || count.ptr != end || s.count == 0 || s.index > s.count) return std::nullopt;
  return s;
}

std::vector<std::size_t> balanced_shards(const std::vector<double>& seconds, std::size_t count) {
  // Whole milliseconds: their sums do not depend on rounding.
  std::vector<std::uint64_t> weights(seconds.size());
  std::transform(seconds.begin(), seconds.end(), weights.begin(),
                 [](double s) { return static_cast<std::uint64_t>(std::llround(std::clamp(s, 0.0, 1e9) * 1000)); });
  std::vector<std::size_t> order(seconds.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return weights[a] > weights[b]; });
  // Milliseconds, recordings, number: of equally full ones that with the fewest recordings.
  using load = std::tuple<std::uint64_t, std::size_t, std::size_t>;
  std::priority_queue<load, std::vector<load>, std::greater<>> loads;
  for (std::size_t s = 0; s < std::min(count, seconds.size()); ++s) loads.emplace(0, 0, s);
  std::vector<std::size_t> shards(seconds.size());
  for (const std::size_t i : order) {
    const auto [sum, recordings, s] = loads.top();
    loads.pop();
    shards[i] = s;
    loads.emplace(sum + weights[i], recordings + 1, s);
  }
  return shards;
}

double seconds_by_size(const std::string& path) {
  constexpr double plain = 32000, packed = 8000;  // bytes of a second: 16 bits at 16 kHz, 64 kbit/s
  std::error_code failed;
  const auto bytes = std::filesystem::file_size(utf8_path(path), failed);
  if (failed) return 0;
  std::string ending = utf8_path(path).extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  const bool samples = ending == ".wav" || ending == ".w64" || ending == ".aif" || ending == ".aiff" ||
                       ending == ".au" || ending == ".caf" || ending == ".sph" || ending == ".raw";
  return static_cast<double>(bytes) / (samples ? plain : packed);
}

}  // namespace steno::app

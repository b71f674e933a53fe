// steno/search/token_choice.hpp - the next token from its scores: the best one, or a sample.
//
//   p = softmax(scores / temperature) over the top_k best, of which the fewest stay that hold top_p together
//
// Temperature 0 is greedy: the largest score, the first of equals. Otherwise in the order of transformers'
// TemperatureLogitsWarper, TopKLogitsWarper and TopPLogitsWarper; of equal scores at a limit the smaller ids stay.
// Numbers come from splitmix64, so a seed gives the same text everywhere. Tested in
// tests/search/token_choice_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// How token_choice chooses. The default is greedy.
struct token_sampling {
  double temperature = 0;  ///< 0: greedy, and the rest says nothing
  int top_k = 0;           ///< 0: all
  double top_p = 1;        ///< 1: all
  std::uint64_t seed = 0;  ///< equal seeds choose equally
};

/// One text's choices. Copyable; allocates nothing after the first call with as many scores.
class token_choice {
 public:
  token_choice() = default;
  /// Choices by these rules, from the start of the seed's numbers. Without, it is greedy.
  explicit token_choice(const token_sampling& s) : options_(s), random_(s.seed) {}

  /// The index chosen. `scores` is not empty.
  int operator()(std::span<const float> scores) {
    if (!(options_.temperature > 0)) return best(scores);
    candidates_.resize(scores.size());
    for (std::size_t i = 0; i < scores.size(); ++i)  // what is no number is never chosen, and does not upset the order
      candidates_[i] = {std::isnan(scores[i]) ? -std::numeric_limits<float>::infinity() : scores[i],
                        static_cast<int>(i)};
    // The largest score first, then the smaller id; as a heap's order the best is on top.
    const auto worse = [](const candidate& a, const candidate& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    };
    const auto better = [&](const candidate& a, const candidate& b) { return worse(b, a); };
    if (options_.top_k > 0 && static_cast<std::size_t>(options_.top_k) < candidates_.size()) {
      std::nth_element(candidates_.begin(), candidates_.begin() + options_.top_k, candidates_.end(), better);
      candidates_.erase(candidates_.begin() + options_.top_k, candidates_.end());
      // Sums do not depend on how they were found.
      std::sort(candidates_.begin(), candidates_.end(),
                [](const candidate& a, const candidate& b) { return a.second < b.second; });
    }
    const double top = static_cast<double>(std::max_element(candidates_.begin(), candidates_.end(), worse)->first);
    const auto weight = [&](const candidate& c) {
      return std::exp((static_cast<double>(c.first) - top) / options_.temperature);
    };
    double all = 0;
    for (const candidate& c : candidates_) all += weight(c);
    if (options_.top_p < 1) {
      std::make_heap(candidates_.begin(), candidates_.end(), worse);
      double held = 0;
      auto end = candidates_.end();
      while (end != candidates_.begin()) {
        std::pop_heap(candidates_.begin(), end, worse);
        held += weight(*--end);
        if (held >= options_.top_p * all) break;
      }
      candidates_.erase(candidates_.begin(), end);
      all = held;
    }
    double left = uniform() * all;
    for (const candidate& c : candidates_)
      if ((left -= weight(c)) < 0) return c.second;
    return best(scores);  // rounding, or scores that are no numbers
  }

 private:
  using candidate = std::pair<float, int>;

  static int best(std::span<const float> scores) {
    return static_cast<int>(std::max_element(scores.begin(), scores.end()) - scores.begin());
  }
  /// [0, 1)
  STENO_ON_CALL double uniform() {
    random_ += 0x9e3779b97f4a7c15u;
    std::uint64_t z = random_;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
  }

  token_sampling options_;
  std::uint64_t random_ = 0;
  std::vector<candidate> candidates_;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno

// steno/streaming/parakeet_placed.hpp - what streams of Parakeet emit: the tokens so far with their frames.
//
// Labels of a greedy search never change, so tokens are placed once, as they come. Those that belong to settled
// utterances are forgotten in batches. Tested in tests/streaming/parakeet_window_stream_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/models/parakeet.hpp>

#include <algorithm>
#include <span>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace nemo {

/// Emitted after each piece that has new tokens, and at the end. Views are valid until the stream goes on.
struct parakeet_window_event {
  bool final = false;                                     ///< the stream ended
  std::span<const tokenizers::placed_token> tokens = {};  ///< all that were not forgotten
  std::span<const float> log_probabilities = {};          ///< of the tokens
  double decoded_seconds = 0;                             ///< of audio whose rows were decoded
};

/// Tokens of a stream with their frames.
struct parakeet_placed {
  std::vector<tokenizers::placed_token> tokens = {};  ///< all that were not forgotten
  std::vector<float> log_probabilities = {};          ///< of them

  /// `all` are the search's tokens, but those that were forgotten; log_probability(i) is that of a token. Whether there
  /// are new ones.
  template <class Model, class Token, class F>
  bool add(const Model& m, std::span<const Token> all, F&& log_probability) {
    const std::size_t known = tokens.size();
    if (all.size() == known) return false;
    const std::size_t from = known - std::min(known, context);
    const std::vector<tokenizers::placed_token> tail = m.place(all.subspan(from));
    tokens.insert(tokens.end(), tail.begin() + static_cast<std::ptrdiff_t>(known - from), tail.end());
    for (std::size_t i = known; i < all.size(); ++i) log_probabilities.push_back(log_probability(i));
    return true;
  }
  /// The first `count` tokens are of no interest any more. Returns how many of them are gone: the search has to forget
  /// as many.
  std::size_t forget(std::size_t count) {
    constexpr std::size_t batch = 256;  // at once
    count -= std::min(count, context);
    if (count < batch) return 0;
    const auto erase = [&](auto& all) { all.erase(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)); };
    erase(tokens);
    erase(log_probabilities);
    return count;
  }

 private:
  // Where a token is put may depend on so many before it.
  static constexpr std::size_t context = 8;
};

}  // namespace nemo
}  // namespace STENO_ABI
}  // namespace steno

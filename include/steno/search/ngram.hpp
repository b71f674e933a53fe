// steno/search/ngram.hpp - an n-gram language model with back-off, as a trie of its contexts.
//
//   log P(w | h) = log_prob[h w] where the model has it, else backoff[h] + log P(w | h without its first word)
//
// Katz 1987. Node 0 is the empty context, its children are all words in the order of their numbers, and the children
// of node i are nodes first_child[i] .. first_child[i + 1] - 1 in the order of their words: levels stand behind one
// another, so two arrays say everything. `shorter` of a node is that of its words without the first. A state is a node,
// so hypotheses copy one number. Const after construction. Tested in tests/search/ngram_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace search {

/// What an ngram is made of; index 0 of the nodes is the empty context.
struct ngram_tables {
  std::vector<std::string> words = {};          ///< by number; `<unk>`, `<s>` and `</s>` among them
  std::vector<std::uint32_t> word = {};         ///< of each node: its last word
  std::vector<float> log_prob = {};             ///< of the last word behind the others, natural logarithm
  std::vector<float> backoff = {};              ///< of the node as a context, natural logarithm
  std::vector<std::uint32_t> first_child = {};  ///< one more than nodes
};

/// An n-gram language model. Const: any number of threads and searches may share one.
class ngram {
 public:
  static constexpr std::size_t max_order = 8;                     ///< words of an n-gram
  static constexpr std::size_t max_nodes = std::size_t{1} << 28;  ///< n-grams of all orders

  /// Words in no n-gram but the shortest. Throws steno::error for tables that are no trie.
  STENO_ON_CALL STENO_COLD explicit ngram(ngram_tables t) : t_(std::move(t)) {
    check();
    for (std::size_t i = 0; i < t_.words.size(); ++i)
      if (!numbers_.emplace(hash_of(t_.words[i]), static_cast<std::uint32_t>(i)).second)
        fail({.what = "words of the language model",
              .expected = "each once",
              .found = steno::weights::quoted(t_.words[i])});
    const auto named = [&](std::initializer_list<std::string_view> names, bool required) {
      for (const std::string_view n : names)
        if (const auto at = numbers_.find(hash_of(n)); at != numbers_.end()) return at->second;
      if (required)
        fail({.what = "words of the language model", .expected = std::string(*names.begin()), .found = "none"});
      return none;
    };
    begin_ = named({"<s>"}, true);
    end_ = named({"</s>"}, true);
    unknown_ = named({"<unk>", "<UNK>"}, false);
    link();
  }

  std::size_t order() const noexcept { return order_; }             ///< words of the longest n-gram
  std::size_t size() const noexcept { return t_.word.size() - 1; }  ///< n-grams of all orders
  std::size_t words() const noexcept { return t_.words.size(); }    ///< with `<s>`, `</s>` and `<unk>`
  const ngram_tables& tables() const noexcept { return t_; }        ///< what it was made of

  /// What a word of a text that the model describes costs on average, in natural logarithms: the entropy of a word
  /// behind one other.
  float entropy() const noexcept { return entropy_; }
  /// The state in front of the first word of a text.
  std::uint32_t start() const noexcept { return start_; }
  /// A word as it comes, byte by byte: begin with `no_word`.
  static constexpr std::uint64_t no_word = 0xcbf29ce484222325u;
  /// The same with a byte more (FNV-1a).
  static std::uint64_t spelled(std::uint64_t word, char c) noexcept {
    return (word ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  /// Goes on with the word that was spelled; returns its log-probability. A word that the model does not know is <unk>,
  /// and as unlikely as the least likely word where there is none.
  float follow(std::uint32_t& state, std::uint64_t word) const noexcept {
    const auto at = numbers_.find(word);
    if (at != numbers_.end()) return step(state, at->second);
    if (unknown_ != none) return step(state, unknown_);
    state = 0;
    return lowest_;
  }
  /// The text ends; returns the log-probability of that.
  float finish(std::uint32_t state) const noexcept { return step(state, end_); }

 private:
  static constexpr std::uint32_t none = 0xffffffffu;

  static std::uint64_t hash_of(std::string_view word) noexcept {
    std::uint64_t h = no_word;
    for (const char c : word) h = spelled(h, c);
    return h;
  }
  std::uint32_t child(std::uint32_t node, std::uint32_t word) const noexcept {
    const auto* const from = t_.word.data() + t_.first_child[node];
    const auto* const to = t_.word.data() + t_.first_child[node + 1];
    const auto* const at = node == 0 ? from + word : std::lower_bound(from, to, word);
    return at < to && *at == word ? static_cast<std::uint32_t>(at - t_.word.data()) : none;
  }
  bool leaf(std::uint32_t node) const noexcept { return t_.first_child[node] == t_.first_child[node + 1]; }
  float step(std::uint32_t& state, std::uint32_t word) const noexcept {
    float sum = 0;
    for (;;) {
      if (const std::uint32_t to = child(state, word); to != none) {
        sum += t_.log_prob[to];
        state = to;
        while (state != 0 && leaf(state)) state = shorter_[state];  // the same for all that follows
        return sum;
      }
      sum += t_.backoff[state];
      state = shorter_[state];  // every word is a child of the empty context
    }
  }

  STENO_COLD void check() {
    const auto refuse = [](const char* what, const char* expected) { fail({.what = what, .expected = expected}); };
    const std::size_t n = t_.word.size();
    if (n == 0 || n > max_nodes || t_.log_prob.size() != n || t_.backoff.size() != n || t_.first_child.size() != n + 1)
      refuse("tables of the language model", "words, probabilities and back-off of each n-gram");
    if (t_.words.empty() || t_.words.size() >= n) refuse("words of the language model", "an n-gram of each");
    for (std::size_t i = 0; i < n; ++i) {
      if (!(t_.log_prob[i] <= 0 && t_.log_prob[i] >= -1000 && t_.backoff[i] >= -1000 && t_.backoff[i] <= 1000))
        refuse("numbers of the language model", "logarithms of probabilities");
      if (i > 0 && t_.word[i] >= t_.words.size()) refuse("words of n-grams", "numbers of words");
    }
    if (t_.first_child[0] != 1 || t_.first_child[1] != 1 + t_.words.size() || t_.first_child[n] != n)
      refuse("n-grams of the language model", "levels behind one another");
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t from = t_.first_child[i], to = t_.first_child[i + 1];
      if (from <= i || from > to || to > n) refuse("n-grams of the language model", "levels behind one another");
      for (std::size_t k = from + 1; k < to; ++k)
        if (t_.word[k - 1] >= t_.word[k]) refuse("n-grams of a context", "in the order of their words");
      if (i == 0)
        for (std::size_t k = from; k < to; ++k)
          if (t_.word[k] != k - from) refuse("n-grams of one word", "one of each word");
    }
  }
  // shorter_ of every node, the order, where texts begin. Levels are done in turn, so that of the parent is known.
  STENO_ON_CALL STENO_COLD void link() {
    const std::size_t n = t_.word.size();
    shorter_.assign(n, 0);
    std::vector<std::uint8_t> depth(n, 0);
    for (std::uint32_t i = 0; i < n; ++i) {
      lowest_ = std::min(lowest_, i > 0 && i <= t_.words.size() && t_.log_prob[i] > -90 ? t_.log_prob[i] : 0.0f);
      for (std::uint32_t k = t_.first_child[i]; k < t_.first_child[i + 1]; ++k) {
        depth[k] = static_cast<std::uint8_t>(depth[i] + 1);
        if (depth[k] > max_order)
          fail({.what = "order of the language model", .expected = "up to " + std::to_string(max_order)});
        order_ = std::max<std::size_t>(order_, depth[k]);
        if (i == 0) continue;
        std::uint32_t s = shorter_[i], to = child(s, t_.word[k]);
        while (to == none) {
          s = shorter_[s];
          to = child(s, t_.word[k]);
        }
        shorter_[k] = to;
      }
    }
    measure();
    start_ = child(0, begin_);
    while (start_ != 0 && leaf(start_)) start_ = shorter_[start_];
  }

  STENO_COLD void measure() noexcept {
    const std::size_t n = t_.words.size();
    const auto p = [&](std::size_t node) { return std::exp(static_cast<double>(t_.log_prob[node])); };
    double alone = 0, sum = 0, all = 0;
    for (std::size_t i = 1; i <= n; ++i) alone -= p(i) * static_cast<double>(t_.log_prob[i]);
    for (std::size_t i = 1; i <= n; ++i) {
      double rest = 1, own = 0;
      for (std::uint32_t k = t_.first_child[i]; k < t_.first_child[i + 1]; ++k) {
        own -= p(k) * static_cast<double>(t_.log_prob[k]);
        rest -= p(k);
      }
      sum += p(i) * (own + std::max(rest, 0.0) * (alone - static_cast<double>(t_.backoff[i])));
      all += p(i);
    }
    entropy_ = all > 0 ? static_cast<float>(std::clamp(sum / all, 0.0, 100.0)) : 0;
  }

  ngram_tables t_;
  std::vector<std::uint32_t> shorter_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
  std::uint32_t begin_ = none, end_ = none, unknown_ = none, start_ = 0;
  std::size_t order_ = 0;
  float lowest_ = 0, entropy_ = 0;
};

}  // namespace search
}  // namespace STENO_ABI
}  // namespace steno

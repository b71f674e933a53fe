// A weight source in memory, for tests: tensors and settings by name.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/blocks.hpp>
#include <steno/weights/source.hpp>

#include <map>
#include <string>
#include <vector>

namespace steno::test {

class memory_source {
 public:
  void add(const std::string& name, std::vector<extent> shape, const std::vector<float>& values,
           dtype format = dtype::f32) {
    entry& e = entries_[name];
    e.bytes.resize(core::bytes_of(format, values.size()));
    if (weights::can_quantise(format))
      weights::quantise(format, values.data(), e.bytes.data(), values.size());  // others: zeros
    e.ref.format = format;
    e.ref.rank = static_cast<int>(shape.size());
    for (std::size_t i = 0; i < shape.size(); ++i) e.ref.shape[i] = shape[i];
    for (auto& [n, each] : entries_) {
      each.ref.name = n;
      each.ref.bytes = each.bytes;
    }
  }
  void set(const std::string& name, double value) { numbers_[name] = value; }
  void remove(const std::string& name) { entries_.erase(name); }

  std::string where() const { return "memory"; }
  std::size_t size() const { return entries_.size(); }
  weights::tensor_ref tensor(std::size_t i) const {
    return std::next(entries_.begin(), static_cast<std::ptrdiff_t>(i))->second.ref;
  }
  std::optional<weights::tensor_ref> find(std::string_view name) const {
    const auto e = entries_.find(std::string(name));
    return e == entries_.end() ? std::nullopt : std::optional(e->second.ref);
  }
  std::optional<double> number(std::string_view name) const {
    const auto n = numbers_.find(std::string(name));
    return n == numbers_.end() ? std::nullopt : std::optional(n->second);
  }
  std::optional<std::string> text(std::string_view) const { return std::nullopt; }

 private:
  struct entry {
    std::vector<std::byte> bytes;
    weights::tensor_ref ref;
  };
  std::map<std::string, entry> entries_;
  std::map<std::string, double> numbers_;
};
static_assert(weights::weight_source<memory_source>);

}  // namespace steno::test

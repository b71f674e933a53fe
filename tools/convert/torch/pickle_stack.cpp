// tools/convert/torch/pickle_stack.cpp - the stack machine's parts: bytes taken from the pickle, stack, memo, integers.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>

#include <charconv>
#include <utility>

#include "torch/pickle.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace torch {

namespace {
// Objects and copied items one pickle may cost. A state dict needs about twenty a tensor.
constexpr std::uint64_t work_limit = std::uint64_t{1} << 23;
constexpr std::size_t storage_types = 10;
constexpr struct {
  std::string_view name;
  std::size_t size;
} scalars[storage_types] = {{"float32", 4}, {"float16", 2}, {"bfloat16", 2}, {"float64", 8}, {"int64", 8},
                            {"int32", 4},   {"int16", 2},   {"int8", 1},     {"uint8", 1},   {"bool", 1}};
}  // namespace

std::size_t size_of_scalar(scalar type) { return scalars[static_cast<std::size_t>(type)].size; }
std::string_view name_of_scalar(scalar type) { return scalars[static_cast<std::size_t>(type)].name; }

pickle::pickle(std::span<const std::byte> bytes, std::string where) : bytes_(bytes), where_(std::move(where)) {
  while (step()) {
  }
  root_ = pop();
}

void pickle::bad(const std::string& why) const {
  fail({.where = where_, .what = "the pickle is damaged at byte " + std::to_string(position_) + ": " + why});
}

void pickle::charge(std::uint64_t work) {
  work_ += work;
  if (work_ > work_limit) bad("it holds more objects than any checkpoint does");
}

// --- bytes -------------------------------------------------------------------------------------------------------

std::span<const std::byte> pickle::take(std::uint64_t count) {
  if (count > bytes_.size() - position_) bad("it is cut short");
  const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
  position_ += taken.size();
  return taken;
}
std::uint64_t pickle::number(std::size_t width) {
  const auto digits = take(width);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i) value |= static_cast<std::uint64_t>(digits[i]) << 8 * i;
  return value;
}
std::string_view pickle::text(std::uint64_t length) {
  const auto taken = take(length);
  return {reinterpret_cast<const char*>(taken.data()), taken.size()};
}
std::string_view pickle::line() {
  std::size_t length = 0;
  while (position_ + length < bytes_.size() && bytes_[position_ + length] != std::byte{'\n'}) ++length;
  const std::string_view taken = text(length);
  take(1);
  return taken;
}

// --- stack -------------------------------------------------------------------------------------------------------

pickle::id pickle::add(node n) {
  charge(1);
  nodes_.push_back(std::move(n));
  return static_cast<id>(nodes_.size() - 1);
}
pickle::id pickle::pop() {
  if (stack_.empty() || (!marks_.empty() && stack_.size() <= marks_.back())) bad("the stack is empty");
  const id last = stack_.back();
  stack_.pop_back();
  return last;
}
std::vector<pickle::id> pickle::pop_to_mark() {
  if (marks_.empty()) bad("there is no mark");
  const auto from = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<id> items(from, stack_.end());
  stack_.erase(from, stack_.end());
  marks_.pop_back();
  return items;
}
pickle::node& pickle::top(kind wanted) {
  if (stack_.empty()) bad("the stack is empty");
  node& v = nodes_[stack_.back()];
  if (v.what != wanted) bad("an opcode does not fit its object");
  return v;
}
void pickle::make(kind what, std::size_t count) {
  std::vector<id> items(count);
  for (std::size_t i = count; i > 0; --i) items[i - 1] = pop();
  push(add({.what = what, .items = std::move(items)}));
}
void pickle::append(const std::vector<id>& items) {
  node& list = top(kind::list);
  list.items.insert(list.items.end(), items.begin(), items.end());
}
void pickle::set_items(const std::vector<id>& items) {
  if (items.size() % 2 != 0) bad("a dict has a key without a value");
  node& dict = top(kind::dict);
  dict.items.insert(dict.items.end(), items.begin(), items.end());
}
const pickle::node* pickle::find(const node& dict, std::string_view key) const {
  if (dict.what != kind::dict) return nullptr;
  for (std::size_t i = dict.items.size(); i >= 2; i -= 2) {
    const node& k = at(dict.items[i - 2]);
    if (k.what == kind::text && k.text == key) return &at(dict.items[i - 1]);
  }
  return nullptr;
}

// --- numbers -----------------------------------------------------------------------------------------------------

void pickle::integer_text(std::string_view digits) {
  if (digits.ends_with('L')) digits.remove_suffix(1);
  if (digits == "00" || digits == "01") {  // how the oldest writers spell False and True
    push(add({.what = kind::boolean, .number = digits == "01"}));
    return;
  }
  std::int64_t value = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failure != std::errc{} || end != digits.data() + digits.size()) bad("an integer cannot be read");
  push(add({.what = kind::integer, .number = value}));
}

void pickle::long_integer(std::span<const std::byte> digits) {
  if (digits.size() > 8) {
    push(add({.what = kind::huge_integer, .text = {reinterpret_cast<const char*>(digits.data()), digits.size()}}));
    return;
  }
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) value |= static_cast<std::uint64_t>(digits[i]) << 8 * i;
  const std::size_t bits = 8 * digits.size();
  if (bits > 0 && bits < 64 && (value >> (bits - 1)) != 0) value |= ~std::uint64_t{0} << bits;  // two's complement
  push(add({.what = kind::integer, .number = static_cast<std::int64_t>(value)}));
}

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno

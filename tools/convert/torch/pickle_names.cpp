// tools/convert/torch/pickle_names.cpp - the names a pickle may use, and what calling them makes.
// SPDX-License-Identifier: Apache-2.0
#include "torch/pickle.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <utility>

namespace steno {
inline namespace STENO_ABI {
namespace torch {

namespace {

enum class role : std::uint8_t { storage, ordered_dict, set, size, bytes, encode, rebuild, rebuild_v2, parameter };

struct allowed_name {
  std::string_view module, name;
  role what;
  scalar type = scalar::u8;
};

constexpr allowed_name allowed[] = {
    {"torch", "FloatStorage", role::storage, scalar::f32},
    {"torch", "HalfStorage", role::storage, scalar::f16},
    {"torch", "BFloat16Storage", role::storage, scalar::bf16},
    {"torch", "DoubleStorage", role::storage, scalar::f64},
    {"torch", "LongStorage", role::storage, scalar::i64},
    {"torch", "IntStorage", role::storage, scalar::i32},
    {"torch", "ShortStorage", role::storage, scalar::i16},
    {"torch", "CharStorage", role::storage, scalar::i8},
    {"torch", "ByteStorage", role::storage, scalar::u8},
    {"torch", "BoolStorage", role::storage, scalar::boolean},
    {"torch", "UntypedStorage", role::storage, scalar::u8},
    {"torch.storage", "UntypedStorage", role::storage, scalar::u8},
    {"torch", "Size", role::size},
    {"torch._utils", "_rebuild_tensor", role::rebuild},
    {"torch._utils", "_rebuild_tensor_v2", role::rebuild_v2},
    {"torch._utils", "_rebuild_parameter", role::parameter},
    {"collections", "OrderedDict", role::ordered_dict},
    {"builtins", "set", role::set},
    {"builtins", "frozenset", role::set},
    {"__builtin__", "set", role::set},
    {"__builtin__", "frozenset", role::set},
    {"builtins", "bytes", role::bytes},
    {"__builtin__", "bytes", role::bytes},
    {"_codecs", "encode", role::encode},  // how protocol 2 spells bytes: encode(text, "latin1")
};

// Latin-1 bytes of a UTF-8 text; false when a character has none.
bool latin1(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x80) {
      out += text[i];
    } else if ((c == 0xc2 || c == 0xc3) && i + 1 < text.size()) {
      out += static_cast<char>((c & 3u) << 6 | (static_cast<unsigned char>(text[++i]) & 0x3fu));
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

void pickle::refuse(std::string_view module, std::string_view name) const {
  fail({.where = where_,
        .what = "pickle names " + steno::weights::quoted(std::string(module).append(".").append(name)) +
                ", which is not data: only tensors, numbers, strings and containers are read, nothing is run",
        .hint = "save the state dict alone, as plain tensors"});
}

void pickle::global(std::string_view module, std::string_view name) {
  for (std::size_t i = 0; i < std::size(allowed); ++i)
    if (allowed[i].module == module && allowed[i].name == name) {
      push(add({.what = kind::global, .number = static_cast<std::int64_t>(i)}));
      return;
    }
  refuse(module, name);
}

void pickle::call(id callable, id arguments) {
  if (at(callable).what != kind::global) bad("it calls something that is not a name");
  const node args = at(arguments);
  if (args.what != kind::tuple) bad("arguments are not a tuple");
  charge(args.items.size());
  const allowed_name& target = allowed[static_cast<std::size_t>(at(callable).number)];
  const auto argument = [&](std::size_t i) -> const node& { return at(args.items[i]); };
  const std::size_t count = args.items.size();
  const auto wrong = [&] { bad("wrong arguments of " + std::string(target.module) + "." + std::string(target.name)); };
  switch (target.what) {
    case role::storage:
      refuse(target.module, std::string(target.name) + "()");
    case role::size:
      if (count != 1 || argument(0).what != kind::tuple) wrong();
      push(args.items[0]);
      break;
    case role::rebuild:
      if (count != 4) wrong();
      push(rebuild_tensor(args));
      break;
    case role::rebuild_v2:
      if (count != 6 && count != 7) wrong();
      push(rebuild_tensor(args));
      break;
    case role::parameter:
      if (count != 3 || argument(0).what != kind::tensor) wrong();
      push(args.items[0]);
      break;
    case role::ordered_dict: {
      std::vector<id> items;
      if (count > 1 || (count == 1 && argument(0).what != kind::list)) wrong();
      if (count == 1) {  // OrderedDict([[key, value], ...]), as Python 2 writes it
        charge(2 * argument(0).items.size());
        for (const id pair : argument(0).items) {
          const node& p = at(pair);
          if ((p.what != kind::tuple && p.what != kind::list) || p.items.size() != 2) wrong();
          items.insert(items.end(), p.items.begin(), p.items.end());
        }
      }
      push(add({.what = kind::dict, .items = std::move(items)}));
      break;
    }
    case role::set: {
      if (count > 1 || (count == 1 && argument(0).what != kind::list && argument(0).what != kind::tuple)) wrong();
      std::vector<id> items;
      if (count == 1) {
        charge(argument(0).items.size());
        items = argument(0).items;
      }
      push(add({.what = kind::set, .items = std::move(items)}));
      break;
    }
    case role::bytes:
      if (count != 0) wrong();
      push(add({.what = kind::bytes}));
      break;
    case role::encode: {
      if (count != 2 || argument(0).what != kind::text || argument(1).text != "latin1") wrong();
      charge(argument(0).text.size());
      std::string encoded;
      if (!latin1(argument(0).text, encoded)) wrong();
      owned_.push_back(std::move(encoded));
      push(add({.what = kind::bytes, .text = owned_.back()}));
      break;
    }
  }
}

std::uint64_t pickle::size_argument(id i) const {
  const node& v = at(i);
  if (v.what != kind::integer || v.number < 0) bad("a size is not a natural number");
  return static_cast<std::uint64_t>(v.number);
}

std::vector<std::uint64_t> pickle::sizes(id tuple) const {
  constexpr std::size_t max_dimensions = 16;
  const node& v = at(tuple);
  if (v.what != kind::tuple || v.items.size() > max_dimensions) bad("a shape is not a short tuple");
  std::vector<std::uint64_t> out;
  for (const id i : v.items) out.push_back(size_argument(i));
  return out;
}

// ("storage", class, key, location, elements[, view]): a reference to bytes that are kept outside of the pickle.
pickle::id pickle::persistent(id key) {
  const node tuple = at(key);
  const auto part = [&](std::size_t i) -> const node& { return at(tuple.items[i]); };
  if (tuple.what != kind::tuple || tuple.items.size() < 5 || tuple.items.size() > 6 || part(0).what != kind::text ||
      part(0).text != "storage" || part(1).what != kind::global || part(2).what != kind::text)
    bad("it refers to something that is not a storage");
  const allowed_name& type = allowed[static_cast<std::size_t>(part(1).number)];
  if (type.what != role::storage) bad("a storage has no type");
  storage s{.key = part(2).text, .type = type.type, .first = 0, .count = size_argument(tuple.items[4])};
  if (tuple.items.size() == 6 && part(5).what != kind::none) {  // the oldest writers store views: (key, first, count)
    const node& v = part(5);
    if (v.what != kind::tuple || v.items.size() != 3) bad("a storage's view cannot be read");
    const std::uint64_t first = size_argument(v.items[1]), count = size_argument(v.items[2]);
    if (first > s.count || count > s.count - first) bad("a storage's view does not lie inside the storage");
    s.first = first;
    s.count = count;
  }
  storages_.push_back(s);
  return add({.what = kind::storage, .number = static_cast<std::int64_t>(storages_.size() - 1)});
}

// (storage, offset, size, stride, ...): checks that the last element lies inside the storage.
pickle::id pickle::rebuild_tensor(const node& arguments) {
  const node& s = at(arguments.items[0]);
  if (s.what != kind::storage) bad("a tensor has no storage");
  tensor t;
  t.storage = static_cast<std::uint32_t>(s.number);
  t.offset = size_argument(arguments.items[1]);
  t.shape = sizes(arguments.items[2]);
  t.stride = sizes(arguments.items[3]);
  if (t.shape.size() != t.stride.size()) bad("a tensor's shape and strides differ in length");
  const std::uint64_t available = storages_[t.storage].count;
  t.count = 1;
  bool overflow = false;
  std::uint64_t last = t.offset;  // index of the last element
  for (std::size_t i = 0; i < t.shape.size(); ++i) {
    std::uint64_t reach = 0;
    overflow = __builtin_mul_overflow(t.count, t.shape[i], &t.count) || overflow;
    if (t.shape[i] != 0)
      overflow = __builtin_mul_overflow(t.shape[i] - 1, t.stride[i], &reach) ||
                 __builtin_add_overflow(last, reach, &last) || overflow;
  }
  bool empty = false;
  for (const std::uint64_t n : t.shape) empty = empty || n == 0;
  if (empty) t.count = 0;
  if (!empty && (overflow || last >= available)) bad("a tensor reaches beyond its storage");
  tensors_.push_back(std::move(t));
  return add({.what = kind::tensor, .number = static_cast<std::int64_t>(tensors_.size() - 1)});
}

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno

// Every key of a file with every wrong value: numbers out of any range, other types, nothing, nothing at all.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <utility>

#include "damage/damages.hpp"

namespace steno::damage {
namespace {

using kind = weights::gguf_type;
constexpr std::int32_t id(kind t) { return static_cast<std::int32_t>(t); }
// Text that a terminal acts on: C0, a line break, NUL, C1 in UTF-8 and a bare C1 byte.
const std::string escape("\x1b[31mred\nline\0nul\xc2\x9b\x9b", 20);

struct stored {
  std::string name;
  std::int32_t type;
  std::string value;
};

std::string array_of(kind element, std::uint64_t count, const std::string& raw) {
  return bytes_of(id(element)) + bytes_of(count) + raw;
}
std::string repeated(const std::string& piece, std::uint64_t count) {
  std::string all;
  for (std::uint64_t i = 0; i < count; ++i) all += piece;
  return all;
}

// A number as the key's own type where it fits in, else as f64.
stored number(const std::string& name, double v, std::int32_t own) {
  std::optional<stored> result;
  if (weights::gguf_type(own) == kind::boolean && (v == 0 || v == 1)) return {name, own, bytes_of(std::uint8_t(v))};
  weights::detail::with_number_type(weights::gguf_type(own), [&](auto sample) {
    using T = decltype(sample);
    if constexpr (std::is_floating_point_v<T>) {
      result = stored{name, own, bytes_of(static_cast<T>(v))};
    } else if constexpr (!std::is_same_v<T, bool>) {
      if (std::trunc(v) == v && v >= double(std::numeric_limits<T>::min()) &&
          v < std::ldexp(1.0, std::numeric_limits<T>::digits))
        result = stored{name, own, bytes_of(static_cast<T>(v))};
    }
  });
  return result ? *result : stored{name, id(kind::f64), bytes_of(v)};
}

const std::vector<std::pair<std::string, double>>& wrong_numbers() {
  static const std::vector<std::pair<std::string, double>> all = {{"zero", 0},
                                                                  {"one", 1},
                                                                  {"negative", -1},
                                                                  {"very-negative", -2147483648.0},
                                                                  {"half", 0.5},
                                                                  {"255", 255},
                                                                  {"65536", 65536},
                                                                  {"1e6", 1e6},
                                                                  {"2^31", 0x1p31},
                                                                  {"2^32-1", 4294967295.0},
                                                                  {"2^63", 0x1p63},
                                                                  {"1e300", 1e300},
                                                                  {"nan", std::nan("")},
                                                                  {"inf", std::numeric_limits<double>::infinity()},
                                                                  {"-inf", -std::numeric_limits<double>::infinity()}};
  return all;
}

std::vector<stored> other_numbers(const key_part& k) {
  std::vector<stored> out;
  for (const auto& [name, v] : wrong_numbers()) out.push_back(number(name, v, k.type));
  out.push_back({"text", id(kind::string), sized("text")});
  out.push_back({"list", id(kind::array), array_of(kind::u32, 2, bytes_of(1u) + bytes_of(2u))});
  return out;
}

std::vector<stored> other_texts() {
  return {
      {"empty", id(kind::string), sized("")},      {"unknown", id(kind::string), sized("unknown")},
      {"escape", id(kind::string), sized(escape)}, {"long", id(kind::string), sized(std::string(100000, 'x'))},
      {"number", id(kind::u32), bytes_of(7u)},     {"list", id(kind::array), array_of(kind::string, 1, sized("text"))}};
}

// Numbers in a list: one number in all places, and in the last one alone.
std::vector<stored> other_lists(const key_part& k) {
  const auto element =
      static_cast<kind>(weights::load_as<std::int32_t>(reinterpret_cast<const std::byte*>(k.value.data())));
  const std::uint64_t count = weights::load_as<std::uint64_t>(reinterpret_cast<const std::byte*>(k.value.data()) + 4);
  const std::string raw = k.value.substr(12);
  const std::size_t each = weights::size_of_type(element);
  std::vector<stored> out;
  for (const auto& [name, v] : wrong_numbers()) {
    const stored n = number(name, v, id(element));
    out.push_back({name, k.type, array_of(kind(n.type), count, repeated(n.value, count))});
    if (n.type != id(element)) continue;
    out.push_back({"last-" + name, k.type, array_of(element, count, raw.substr(0, raw.size() - each) + n.value)});
  }
  out.push_back({"short", k.type, array_of(element, count - 1, raw.substr(0, raw.size() - each))});
  out.push_back({"double", k.type, array_of(element, count * 2, raw + raw)});
  out.push_back({"empty", k.type, array_of(element, 0, "")});
  out.push_back({"texts", k.type, array_of(kind::string, count, repeated(sized("x"), count))});
  out.push_back({"text", id(kind::string), sized("text")});
  out.push_back({"number", id(kind::u32), bytes_of(7u)});
  return out;
}

std::vector<stored> other_text_lists(const key_part& k) {
  const auto* p = reinterpret_cast<const std::byte*>(k.value.data());
  const std::uint64_t count = weights::load_as<std::uint64_t>(p + 4);
  const weights::gguf_value v{"", kind::array, kind::string, count,
                              std::as_bytes(std::span(k.value.data(), k.value.size())).subspan(12)};
  const std::vector<std::string> texts = *v.strings();
  const auto joined = [](const std::vector<std::string>& all) {
    std::string raw;
    for (const std::string& t : all) raw += sized(t);
    return array_of(kind::string, all.size(), raw);
  };
  const auto with = [&](auto&& edit) {
    std::vector<std::string> all = texts;
    edit(all);
    return joined(all);
  };
  using list = std::vector<std::string>;
  std::vector<stored> out;
  const auto add = [&](const char* name, std::string value) { out.push_back({name, k.type, std::move(value)}); };
  add("short", with([](list& l) { l.pop_back(); }));
  add("half", with([](list& l) { l.resize(l.size() / 2); }));
  add("one", with([](list& l) { l.resize(1); }));
  add("empty", joined({}));
  add("twice", with([&](list& l) { l.insert(l.end(), texts.begin(), texts.end()); }));
  add("shifted", with([](list& l) { l.insert(l.begin(), "x"); }));
  add("longer", with([](list& l) {
        for (int i = 0; i < 300000; ++i) l.push_back(std::string(1, '+') + std::to_string(i));
      }));
  add("equal", with([](list& l) {
        for (auto& t : l) t = "a";
      }));
  add("empties", with([](list& l) {
        for (auto& t : l) t.clear();
      }));
  add("escape", with([](list& l) {
        for (auto& t : l) t = escape + t;
      }));
  add("not-utf8", with([](list& l) {
        for (auto& t : l) t += "\xff\xfe";
      }));
  add("long", with([](list& l) { l.back() = std::string(1000000, 'x'); }));
  add("numbers", array_of(kind::u32, count, repeated(bytes_of(7u), count)));
  out.push_back({"text", id(kind::string), sized("text")});
  out.push_back({"number", id(kind::u32), bytes_of(7u)});
  return out;
}

std::vector<stored> other_values(const key_part& k) {
  if (weights::gguf_type(k.type) == kind::string) return other_texts();
  if (weights::gguf_type(k.type) != kind::array) return other_numbers(k);
  const auto element = weights::load_as<std::int32_t>(reinterpret_cast<const std::byte*>(k.value.data()));
  return weights::gguf_type(element) == kind::string ? other_text_lists(k) : other_lists(k);
}

}  // namespace

std::vector<one_damage> key_damages(const std::string& model, const gguf_parts& parts) {
  std::vector<one_damage> all;
  for (std::size_t i = 0; i < parts.keys.size(); ++i) {
    const key_part& k = parts.keys[i];
    const auto add = [&](const std::string& value, auto edit) {
      all.push_back({"gguf/" + model + "/key/" + k.name + "/" + value, k.name, value, [edit](const gguf_parts& from) {
                       gguf_parts p = from;
                       edit(p);
                       return p.bytes();
                     }});
    };
    for (const stored& s : other_values(k)) {
      if (s.type == k.type && s.value == k.value) continue;
      add(s.name, [i, s](gguf_parts& p) {
        p.keys[i].type = s.type;
        p.keys[i].value = s.value;
      });
    }
    add("removed", [i](gguf_parts& p) { p.keys.erase(p.keys.begin() + std::ptrdiff_t(i)); });
    add("renamed", [i](gguf_parts& p) { p.keys[i].name += escape; });
    add("again", [i](gguf_parts& p) { p.keys.push_back(p.keys[i]); });
    add("unknown-type", [i](gguf_parts& p) { p.keys[i].type = 77; });
    add("escape-unknown-type", [i](gguf_parts& p) { p.keys[i].name += escape, p.keys[i].type = 77; });
  }
  return all;
}

}  // namespace steno::damage

// GGUF: any bytes are refused with steno::error, or load; then every value decodes, and the writer can write the file
// again so that the reader finds the same keys and tensors.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/blocks.hpp>
#include <steno/weights/gguf.hpp>
#include <steno/weights/gguf_writer.hpp>

#include "fuzz.hpp"

using namespace steno_fuzz;

namespace {
void decode(const steno::gguf_file& f, const steno::weights::gguf_value& v) {
  require(f.value(v.key) == &v);
  if (const auto strings = v.strings())
    require(strings->size() == v.count);
  else if (const auto numbers = v.numbers())
    require(numbers->size() == v.count);
  else
    require(v.text().has_value() != v.number().has_value());
  require(!v.type_text().empty());
}

bool same(const steno::weights::gguf_value& a, const steno::weights::gguf_value& b) {
  return a.key == b.key && a.type == b.type && a.element == b.element && a.count == b.count &&
         std::equal(a.raw.begin(), a.raw.end(), b.raw.begin(), b.raw.end());
}
bool same(const steno::weights::tensor_ref& a, const steno::weights::tensor_ref& b) {
  return a.name == b.name && a.format == b.format && a.rank == b.rank && a.shape == b.shape &&
         std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
}

void rewrite(const steno::gguf_file& f) {
  steno::weights::gguf_writer w;
  for (const auto& v : f.values()) w.copy(v);
  for (std::size_t i = 0; i < f.size(); ++i) {
    const auto t = f.tensor(i);
    w.add(t.name, t.format, std::span(t.shape).first(static_cast<std::size_t>(t.rank)), t.bytes);
  }
  const auto bytes = w.bytes();
  require(bytes.size() == w.size());
  const steno::gguf_file again("again", bytes);
  require(again.values().size() == f.values().size() && again.size() == f.size());
  for (std::size_t i = 0; i < f.values().size(); ++i) require(same(again.values()[i], f.values()[i]));
  for (std::size_t i = 0; i < f.size(); ++i) require(same(again.tensor(i), f.tensor(i)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  read_or_refuse([&] {
    const steno::gguf_file f("input", std::as_bytes(std::span(data, size)));
    for (const auto& v : f.values()) decode(f, v);
    for (std::size_t i = 0; i < f.size(); ++i) {
      const auto t = f.tensor(i);
      require(f.find(t.name).has_value() && t.rows() >= 0 && t.cols() >= 0 && !t.shape_text().empty());
      if (steno::core::info(t.format).elements != 0)
        require(static_cast<steno::extent>(steno::weights::values_of(t, f.where()).size()) == t.rows() * t.cols());
    }
    rewrite(f);
  });
  return 0;
}

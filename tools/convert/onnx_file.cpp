// tools/convert/onnx_file.cpp - see onnx_file.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "onnx_file.hpp"

#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <optional>
#include <string>

#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

constexpr int max_graphs_within = 16;  // published ones have 5

// A field of a message: a number, or bytes from `begin` to `end` of the file.
struct wire_field {
  std::uint64_t number = 0, kind = 0, value = 0;
  std::size_t begin = 0, end = 0;
};
constexpr std::uint64_t as_number = 0, as_8_bytes = 1, as_bytes = 2, as_4_bytes = 5;

// The fields of the message from `begin` to `end` of the file, so that errors say where in the file they are.
class wire_message {
 public:
  wire_message(std::string_view where, std::span<const std::byte> file, std::size_t begin, std::size_t end)
      : at_(where, file.first(end)) {
    at_.take(begin, "a message");
  }

  std::optional<wire_field> next() {
    if (at_.remaining() == 0) return std::nullopt;
    wire_field f;
    const std::uint64_t key = varint();
    f.number = key >> 3u;
    f.kind = key & 7u;
    if (f.number == 0) at_.stop("a field of a protobuf message has the number 0");
    if (f.kind == as_number) {
      f.value = varint();
      return f;
    }
    std::uint64_t size = 0;
    if (f.kind == as_bytes)
      size = varint();
    else if (f.kind == as_8_bytes)
      size = 8;
    else if (f.kind == as_4_bytes)
      size = 4;
    else
      at_.stop("a field of a protobuf message", "kinds 0, 1, 2 and 5", std::to_string(f.kind));
    f.begin = at_.position();
    at_.take(size, "a field of a protobuf message");
    f.end = at_.position();
    return f;
  }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto b = static_cast<std::uint64_t>(at_.number<std::uint8_t>("a number of a protobuf message"));
      value |= (b & 0x7fu) << shift;
      if (b < 0x80u) return value;
    }
    at_.stop("a number of a protobuf message is longer than 64 bits");
  }
  bool done() const noexcept { return at_.remaining() == 0; }

 private:
  weights::byte_cursor at_;
};

struct element_type {
  std::uint64_t number;
  std::size_t size;
  dtype stored;  // f32 also for doubles, which are converted while reading
};
constexpr std::uint64_t of_floats = 1, of_doubles = 11;
constexpr element_type element_types[] = {
    {of_floats, 4, dtype::f32}, {10, 2, dtype::f16}, {16, 2, dtype::bf16}, {of_doubles, 8, dtype::f32}};

class onnx_reader {
 public:
  onnx_reader(std::string_view where, std::span<const std::byte> bytes) : where_(where), bytes_(bytes) {}

  std::vector<stored_tensor> model() && {
    bool found = false;
    each({.begin = 0, .end = bytes_.size()}, [&](const wire_field& f) {
      if (f.number != 7 || f.kind != as_bytes) return;
      found = true;
      graph(f, 0);
    });
    if (!found) fail({.where = std::string(where_), .what = "no ONNX model: it has no graph"});
    return std::move(all_);
  }

 private:
  template <class F>
  void each(const wire_field& message, F&& f) const {
    wire_message fields(where_, bytes_, message.begin, message.end);
    while (const auto field = fields.next()) f(*field);
  }
  std::string text(const wire_field& f) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + f.begin, f.end - f.begin};
  }
  [[noreturn]] void refuse(const std::string& name, const std::string& what) const {
    fail({.where = std::string(where_), .what = "tensor " + weights::quoted(name) + ": " + what});
  }

  void graph(const wire_field& message, int depth) {
    if (depth > max_graphs_within)
      fail({.where = std::string(where_),
            .what = "graphs within graphs",
            .expected = "up to " + std::to_string(max_graphs_within)});
    each(message, [&](const wire_field& f) {
      if (f.kind != as_bytes) return;
      if (f.number == 1) node(f, depth);
      if (f.number == 5) tensor(f, {});
    });
  }

  void node(const wire_field& message, int depth) {
    std::string output, operation;
    std::vector<wire_field> attributes;
    each(message, [&](const wire_field& f) {
      if (f.kind != as_bytes) return;
      if (f.number == 2 && output.empty()) output = text(f);
      if (f.number == 4) operation = text(f);
      if (f.number == 5) attributes.push_back(f);
    });
    for (const wire_field& a : attributes) {
      std::string name;
      std::optional<wire_field> value;
      std::vector<wire_field> graphs;
      each(a, [&](const wire_field& f) {
        if (f.kind != as_bytes) return;
        if (f.number == 1) name = text(f);
        if (f.number == 5) value = f;
        if (f.number == 6 || f.number == 11) graphs.push_back(f);
      });
      if (value && operation == "Constant" && name == "value") tensor(*value, output);
      for (const wire_field& g : graphs) graph(g, depth + 1);
    }
  }

  // `output`: what a node calls it; empty where its own name is that.
  void tensor(const wire_field& message, const std::string& output) {
    stored_tensor t{.name = output};
    std::uint64_t type = 0;
    std::optional<wire_field> data, floats;
    bool elsewhere = false;
    each(message, [&](const wire_field& f) {
      if (f.number == 1 && f.kind == as_number) dimension(t, f.value);
      if (f.number == 1 && f.kind == as_bytes) {
        wire_message packed(where_, bytes_, f.begin, f.end);
        while (!packed.done()) dimension(t, packed.varint());
      }
      if (f.number == 2 && f.kind == as_number) type = f.value;
      if (f.number == 4 && f.kind == as_bytes) floats = f;
      if (f.number == 8 && f.kind == as_bytes && output.empty()) t.name = text(f);
      if (f.number == 9 && f.kind == as_bytes) data = f;
      if (f.number == 14 && f.kind == as_number && f.value != 0) elsewhere = true;
    });
    const element_type* e = nullptr;
    for (const element_type& known : element_types)
      if (known.number == type) e = &known;
    if (e == nullptr) return;  // shapes, axes and the like
    if (elsewhere) refuse(t.name, "its values are in a file of their own, which is not read");
    if (!data && type == of_floats) data = floats;
    if (!data) refuse(t.name, "it has no values that can be read");
    add(std::move(t), *e, *data);
  }
  void dimension(stored_tensor& t, std::uint64_t n) const {
    if (t.shape.size() == limits::rank)
      refuse(t.name, "it has more than " + std::to_string(limits::rank) + " dimensions");
    if (n > bytes_.size()) refuse(t.name, "its shape is too large");
    t.shape.push_back(static_cast<extent>(n));
  }
  void add(stored_tensor t, const element_type& e, const wire_field& data) {
    std::uint64_t count = 1, wanted = 0;
    for (const extent n : t.shape)
      if (!weights::checked_multiply(count, static_cast<std::uint64_t>(n), count))
        refuse(t.name, "its shape is too large");
    if (!weights::checked_multiply(count, e.size, wanted) || wanted != data.end - data.begin)
      refuse(t.name, "its shape does not fit its data of " + std::to_string(data.end - data.begin) + " bytes");
    if (count == 0) return;
    if (t.shape.empty()) t.shape.push_back(1);
    if (all_.size() == limits::tensors)
      fail({.where = std::string(where_),
            .what = "constants of the file",
            .expected = "up to " + std::to_string(limits::tensors)});
    const auto part = bytes_.subspan(data.begin, data.end - data.begin);
    t.stored = e.stored;
    if (e.number == of_doubles) {
      t.read = [part](std::span<float> out) {
        for (std::size_t i = 0; i < out.size(); ++i)
          out[i] = static_cast<float>(weights::load_as<double>(part.data() + i * sizeof(double)));
      };
    } else {
      t.bytes = part;
      t.read = [part, stored = t.stored](std::span<float> out) {
        weights::dequantise(stored, part.data(), out.data(), out.size());
      };
    }
    all_.push_back(std::move(t));
  }

  std::string_view where_;
  std::span<const std::byte> bytes_;
  std::vector<stored_tensor> all_;
};

}  // namespace

std::vector<stored_tensor> onnx_tensors(std::string_view where, std::span<const std::byte> bytes) {
  return onnx_reader(where, bytes).model();
}

}  // namespace STENO_ABI
}  // namespace steno

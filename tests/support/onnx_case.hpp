// Writes what the readers of Silero VAD's published forms read: ONNX (a protobuf message), safetensors.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/silero_case.hpp"

namespace steno::test {

/// A protobuf message, field by field.
class wire_writer {
 public:
  static std::string varint(std::uint64_t n) {
    std::string out;
    for (; n >= 0x80u; n >>= 7u) out += static_cast<char>((n & 0x7fu) | 0x80u);
    return out += static_cast<char>(n);
  }
  wire_writer& number(unsigned field, std::uint64_t n) {
    bytes_ += varint(std::uint64_t{field} << 3u);
    bytes_ += varint(n);
    return *this;
  }
  wire_writer& text(unsigned field, std::string_view bytes) {
    bytes_ += varint((std::uint64_t{field} << 3u) | 2u);
    bytes_ += varint(bytes.size());
    bytes_ += bytes;
    return *this;
  }
  operator std::string_view() const { return bytes_; }  // NOLINT(google-explicit-constructor): a field's bytes
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

inline std::string floats_of(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// A TensorProto of floats; `raw`: its values are bytes, else a list of floats.
inline std::string onnx_tensor(const std::string& name, const std::vector<std::size_t>& shape,
                               const std::vector<float>& values, bool raw = true) {
  wire_writer t;
  if (raw)
    for (const std::size_t n : shape) t.number(1, n);
  else {
    std::string packed;
    for (const std::size_t n : shape) packed += wire_writer::varint(n);
    t.text(1, packed);
  }
  t.number(2, 1);
  if (!name.empty()) t.text(8, name);
  t.text(raw ? 9 : 4, floats_of(values));
  return t.bytes();
}

/// A Constant node.
inline std::string onnx_constant(const std::string& output, const std::string& tensor) {
  wire_writer attribute;
  attribute.text(1, "value").text(5, tensor).number(20, 4);
  wire_writer node;
  node.text(2, output).text(3, "node").text(4, "Constant").text(5, attribute);
  return node.bytes();
}

inline std::string onnx_model(const std::string& graph) {
  wire_writer m;
  m.number(1, 8).text(2, "pytorch").text(7, graph);
  return m.bytes();
}

/// The published form with both rates: an If whose branches have the weights as constants, and numbers that are none.
inline std::string silero_onnx() {
  const auto branch = [](const char* name, int rate, bool constants) {
    wire_writer graph;
    const std::string front = std::string("If_0_") + name + "__Inline_0__";
    for (const silero_tensor& t : silero_tensors(rate, static_cast<std::uint64_t>(rate)))
      constants ? graph.text(1, onnx_constant(front + t.name, onnx_tensor(t.name, t.shape, t.values)))
                : graph.text(5, onnx_tensor(front + t.name, t.shape, t.values, false));
    wire_writer whole;  // an axis
    whole.number(1, 1).number(2, 7).text(9, std::string(8, '\1'));
    graph.text(1, onnx_constant(front + "/stft/Constant_output_0", whole.bytes()));
    graph.text(1, onnx_constant(front + "/stft/Constant_22", onnx_tensor("", {}, {2})));
    wire_writer attribute;
    attribute.text(1, name).text(6, graph).number(20, 5);
    return attribute.bytes();
  };
  wire_writer node, graph;
  node.text(1, "Equal_0_C").text(2, "output").text(4, "If");
  node.text(5, branch("else_branch", 8000, true)).text(5, branch("then_branch", 16000, false));
  graph.text(1, node).text(2, "silero");
  return onnx_model(graph.bytes());
}

/// The names of tinygrad_model.py, or the archive's with `front` before them.
inline std::string safetensors(const std::vector<silero_tensor>& tensors, const std::string& front,
                               bool tinygrad = false) {
  nlohmann::json header;
  std::string data;
  for (const silero_tensor& t : tensors) {
    std::string name = front + t.name;
    if (tinygrad) {
      const std::string end = t.name.substr(t.name.rfind('.'));
      if (t.name.starts_with("encoder."))
        name = "conv" + std::to_string(t.name[8] - '0' + 1) + end;
      else if (t.name.starts_with("decoder.rnn"))
        name = "lstm_cell" + end;
      else
        name = t.name.starts_with("stft") ? "stft_conv.weight" : "final_conv" + end;
    }
    const std::size_t begin = data.size();
    data += floats_of(t.values);
    header[name] = {{"dtype", "F32"}, {"shape", t.shape}, {"data_offsets", {begin, data.size()}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');
  std::string all;
  silero_put(all, static_cast<std::uint64_t>(text.size()));
  return all + text + data;
}

}  // namespace steno::test

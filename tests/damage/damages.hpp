// The damaged files of one model: for every key and every kind of tensor one file per damage, damaged headers, and
// single damages that once were trouble. A damage has a name such as gguf/demo/key/sense_voice.blank_id/1e6.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "damage/gguf_parts.hpp"

namespace steno::damage {

struct one_damage {
  std::string name;     ///< gguf/MODEL/key|tensor|header|special/SUBJECT/VALUE
  std::string subject;  ///< the key or tensor that a message should name; empty for headers
  std::string value;    ///< what was done to it
  std::function<std::string(const gguf_parts&)> file;  ///< bytes of the damaged file

  /// Class of damages: digits between dots of a tensor's name are written as #.
  std::string kind() const;
  bool is_key() const { return name.find("/key/") != std::string::npos; }
  bool is_tensor() const { return name.find("/tensor/") != std::string::npos; }
};

/// "layers.12.weight" as "layers.#.weight".
std::string without_numbers(std::string_view name);

/// All damages of the model called `model`. Of tensors whose names differ in numbers alone the first is damaged, or
/// each with `every_layer`.
std::vector<one_damage> damages_of(const std::string& model, const gguf_parts& parts, bool every_layer);

// The parts of it, each in a file of its name.
std::vector<one_damage> key_damages(const std::string& model, const gguf_parts& parts);
std::vector<one_damage> tensor_damages(const std::string& model, const gguf_parts& parts, bool every_layer);
std::vector<one_damage> header_damages(const std::string& model, const gguf_parts& parts);
std::vector<one_damage> special_damages(const std::string& model, const gguf_parts& parts);

}  // namespace steno::damage

// tools/convert/safetensors.cpp - see safetensors.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "safetensors.hpp"

#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <optional>

#include "json_text.hpp"
#include "limits.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

using nlohmann::json;

struct element {
  std::string_view name;
  std::size_t size;
  dtype stored;  // f32: converted while reading
};
constexpr element elements[] = {{"F32", 4, dtype::f32}, {"F16", 2, dtype::f16}, {"BF16", 2, dtype::bf16},
                                {"F64", 8, dtype::f32}, {"I64", 8, dtype::f32}, {"I32", 4, dtype::f32}};

template <class T>
void widen(std::span<const std::byte> from, std::span<float> to) {
  for (std::size_t i = 0; i < to.size(); ++i)
    to[i] = static_cast<float>(weights::load_as<T>(from.data() + i * sizeof(T)));
}

void read_values(std::string_view type, dtype stored, std::span<const std::byte> from, std::span<float> to) {
  if (type == "F64") return widen<double>(from, to);
  if (type == "I64") return widen<std::int64_t>(from, to);
  if (type == "I32") return widen<std::int32_t>(from, to);
  weights::dequantise(stored, from.data(), to.data(), to.size());
}

std::optional<std::uint64_t> whole(const json& j) {
  if (!j.is_number_unsigned()) return std::nullopt;
  return j.get<std::uint64_t>();
}

}  // namespace

safetensors_file::safetensors_file(const std::filesystem::path& path)
    : file_(std::make_shared<weights::mapped_file>(path.string())), where_(path.string()) {
  parse(file_->bytes());
}
safetensors_file::safetensors_file(std::span<const std::byte> bytes, std::string where) : where_(std::move(where)) {
  parse(bytes);
}

void safetensors_file::parse(std::span<const std::byte> bytes) {
  weights::byte_cursor at(where_, bytes);
  const auto length = at.number<std::uint64_t>("length of the safetensors header");
  const auto text = at.take(length, "the safetensors header");
  const auto data = bytes.subspan(at.position());
  if (text.size() > limits::safetensors_header)
    fail({.where = where_,
          .what = "the safetensors header is too long",
          .expected = "up to " + std::to_string(limits::safetensors_header) + " bytes",
          .found = std::to_string(text.size())});
  const json header = parse_json({reinterpret_cast<const char*>(text.data()), text.size()}, where_ + ": header");
  if (!header.is_object()) fail({.where = where_, .what = "the safetensors header is not a JSON object"});
  if (header.size() > limits::tensors)
    fail({.where = where_,
          .what = "tensors of the file",
          .expected = "up to " + std::to_string(limits::tensors),
          .found = std::to_string(header.size())});
  std::vector<place> places;
  for (const auto& [name, entry] : header.items()) {
    if (name == "__metadata__") continue;
    const auto refuse = [&, &name = name](const std::string& what) {
      fail({.where = where_, .what = "tensor " + steno::weights::quoted(name) + ": " + what});
    };
    if (!entry.is_object() || !entry.contains("dtype") || !entry["dtype"].is_string() || !entry.contains("shape") ||
        !entry["shape"].is_array() || !entry.contains("data_offsets") || !entry["data_offsets"].is_array() ||
        entry["data_offsets"].size() != 2)
      refuse("its entry in the header is not complete");
    const std::string type = entry["dtype"].get<std::string>();
    const element* e = nullptr;
    for (const element& known : elements)
      if (known.name == type) e = &known;
    if (e == nullptr) refuse("element type " + steno::weights::quoted(type) + " is not supported");
    const auto begin = whole(entry["data_offsets"][0]), end = whole(entry["data_offsets"][1]);
    if (!begin || !end || *begin > *end || *end > data.size()) refuse("its data lies outside of the file");
    stored_tensor t;
    t.name = name;
    std::uint64_t count = 1;
    if (entry["shape"].size() > limits::rank) refuse("it has " + std::to_string(entry["shape"].size()) + " dimensions");
    for (const json& n : entry["shape"]) {
      const auto size = whole(n);
      if (!size || !weights::checked_multiply(count, *size, count) || count > data.size())
        refuse("its shape is too large");
      t.shape.push_back(static_cast<extent>(*size));
    }
    std::uint64_t wanted = 0;
    if (!weights::checked_multiply(count, e->size, wanted) || wanted != *end - *begin)
      refuse("its shape does not fit its data of " + std::to_string(*end - *begin) + " bytes");
    t.stored = e->stored;
    const auto part = data.subspan(static_cast<std::size_t>(*begin), static_cast<std::size_t>(wanted));
    if (e->size == core::bytes_of(t.stored, 1)) t.bytes = part;
    if (type == "I32") t.bytes = {};
    t.read = [part, name = e->name, stored = t.stored](std::span<float> out) { read_values(name, stored, part, out); };
    t.file = file_.get();
    places.push_back({*begin, *end, tensors_.size()});
    tensors_.push_back(std::move(t));
  }
  check_places(places, data.size());
}

// As the reference does: the tensors' bytes follow each other from the first byte of the data to its last one.
void safetensors_file::check_places(std::vector<place>& places, std::uint64_t size) const {
  std::sort(places.begin(), places.end(),
            [](const place& a, const place& b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  std::uint64_t reached = 0;
  for (const place& p : places) {
    if (p.begin != reached)
      fail({.where = where_,
            .what = "tensor " + steno::weights::quoted(tensors_[p.tensor].name) +
                    (p.begin < reached ? ": its data is also another tensor's" : ": before its data is a hole"),
            .expected = "offset " + std::to_string(reached),
            .found = std::to_string(p.begin)});
    reached = p.end;
  }
  if (reached != size)
    fail({.where = where_,
          .what = "bytes that the tensors have",
          .expected = std::to_string(size) + " as behind the header",
          .found = std::to_string(reached)});
}

}  // namespace STENO_ABI
}  // namespace steno

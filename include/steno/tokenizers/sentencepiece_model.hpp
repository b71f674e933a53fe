// steno/tokenizers/sentencepiece_model.hpp - reads the pieces of a SentencePiece *.model file.
//
// The file is a protobuf message ModelProto (sentencepiece_model.proto of google/sentencepiece):
//   1 pieces (repeated: 1 piece, 2 score f32, 3 type, default 1), 2 trainer_spec (44 unk_surface),
//   3 normalizer_spec (3 add_dummy_prefix, 4 remove_extra_whitespaces, both true by default).
// Fields that decoding does not need are skipped by their wire type. Every length is compared with what is left of the
// file before it is used. Tested in tests/tokenizers/sentencepiece_model_test.cpp, fuzzed by
// tests/fuzz/sentencepiece_model_fuzz.cpp
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/bit_cast.hpp>
#include <steno/error.hpp>
#include <steno/tokenizers/vocabulary.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {
namespace tokenizers {

namespace detail {

/// Walks the fields of one protobuf message; throws steno::error when the bytes are not one.
class protobuf_reader {
 public:
  struct field {
    std::uint32_t number = 0;
    std::uint32_t wire = 0;            // 0 varint, 1 eight bytes, 2 length-delimited, 5 four bytes
    std::uint64_t value = 0;           // of wire types 0, 1 and 5
    std::span<const std::byte> bytes;  // of wire type 2

    std::string_view text() const { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }
  };

  protobuf_reader(std::span<const std::byte> bytes, std::string_view where) : rest_(bytes), where_(where) {}

  std::optional<field> next() {
    if (rest_.empty()) return std::nullopt;
    const std::uint64_t key = varint();
    field f;
    f.wire = static_cast<std::uint32_t>(key & 7u);
    if (key >> 3 == 0 || key >> 32 != 0) bad("a field has no valid number");
    f.number = static_cast<std::uint32_t>(key >> 3);
    switch (f.wire) {
      case 0:
        f.value = varint();
        break;
      case 1:
        f.value = fixed(8);
        break;
      case 5:
        f.value = fixed(4);
        break;
      case 2: {
        const std::uint64_t length = varint();
        if (length > rest_.size()) bad("a field is longer than the file");
        f.bytes = rest_.first(static_cast<std::size_t>(length));
        rest_ = rest_.subspan(static_cast<std::size_t>(length));
        break;
      }
      default:
        bad("a field has an unknown wire type");
    }
    return f;
  }

  [[noreturn]] void bad(const char* why) const {
    fail({.where = std::string(where_), .what = std::string("not a SentencePiece model: ") + why});
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) bad("a number is cut short");
      const auto byte = static_cast<std::uint64_t>(rest_.front());
      rest_ = rest_.subspan(1);
      value |= (byte & 0x7fu) << shift;
      if (byte < 0x80u) return value;
    }
    bad("a number is too long");
  }
  std::uint64_t fixed(std::size_t size) {
    if (rest_.size() < size) bad("a number is cut short");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(rest_[i]) << 8 * i;
    rest_ = rest_.subspan(size);
    return value;
  }

  std::span<const std::byte> rest_;
  std::string_view where_;
};

inline void read_sentence_piece(const protobuf_reader::field& message, std::string_view where,
                                sentencepiece_vocabulary& v) {
  std::string_view piece;
  float score = 0;
  std::uint64_t type = static_cast<std::uint64_t>(piece_type::normal);
  protobuf_reader fields(message.bytes, where);
  while (const auto f = fields.next()) {
    if (f->number == 1 && f->wire == 2) piece = f->text();
    if (f->number == 2 && f->wire == 5) score = core::bit_cast<float>(static_cast<std::uint32_t>(f->value));
    if (f->number == 3 && f->wire == 0) type = f->value;
  }
  const auto name = [&] { return "piece " + std::to_string(v.pieces.size()); };
  if (piece.empty()) fail({.where = std::string(where), .what = name() + " is empty"});
  if (type < 1 || type > 6)
    fail({.where = std::string(where), .what = name() + " has an unknown type", .found = std::to_string(type)});
  v.pieces.emplace_back(piece);
  v.scores.push_back(score);
  v.types.push_back(static_cast<int>(type));
}

}  // namespace detail

/// The pieces of a SentencePiece model held in `bytes`; `where` names it in errors. Throws steno::error on anything
/// that is not such a model, has no pieces, or does not have exactly one unknown piece (as SentencePiece requires).
inline sentencepiece_vocabulary read_sentencepiece_model(std::span<const std::byte> bytes, std::string_view where) {
  sentencepiece_vocabulary v;
  detail::protobuf_reader fields(bytes, where);
  while (const auto f = fields.next()) {
    if (f->wire != 2) continue;
    if (f->number == 1) {
      detail::read_sentence_piece(*f, where, v);
    } else if (f->number == 2) {
      detail::protobuf_reader trainer(f->bytes, where);
      while (const auto t = trainer.next())
        if (t->number == 44 && t->wire == 2) v.unk_surface = std::string(t->text());
    } else if (f->number == 3) {
      detail::protobuf_reader normalizer(f->bytes, where);
      while (const auto n = normalizer.next()) {
        if (n->number == 3 && n->wire == 0) v.add_dummy_prefix = n->value != 0;
        if (n->number == 4 && n->wire == 0) v.remove_extra_whitespaces = n->value != 0;
      }
    }
  }
  if (v.pieces.empty()) fields.bad("it holds no pieces");
  std::size_t unknown = 0;
  for (const int type : v.types) unknown += type == static_cast<int>(piece_type::unknown);
  if (unknown != 1)
    fail({.where = std::string(where),
          .what = "number of unknown pieces",
          .expected = "1",
          .found = std::to_string(unknown)});
  return v;
}

}  // namespace tokenizers
}  // namespace STENO_ABI
}  // namespace steno

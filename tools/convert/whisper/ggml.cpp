// tools/convert/whisper/ggml.cpp - whisper.cpp's .bin, the container ggml had before GGUF; see whisper.hpp.
//
//   u32 magic "lmgg"; i32 n_vocab, audio ctx, state, head, layer, text ctx, state, head, layer, n_mels, ftype
//   i32 mels, i32 bins, f32 [mels][bins]            the mel filters, which steno computes itself
//   i32 count, then u32 length and bytes of a token
//   i32 n_dims, name length, type, n_dims x i32 (fastest first), name, data; until the end of the file
#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include "content.hpp"
#include "whisper/whisper.hpp"

namespace steno::inline STENO_ABI::whisper_files {

namespace fs = std::filesystem;

namespace {

class reader {
 public:
  reader(std::string_view where, std::span<const std::byte> bytes) : at_(where, bytes) {}

  settings header() {
    at_.take(4, "the magic number");
    settings s;
    s.vocabulary = size("n_vocab", 1 << 20);
    s.audio_context = size("n_audio_ctx", 1 << 16);
    s.width = size("n_audio_state", 1 << 14);
    s.audio_heads = size("n_audio_head", 1 << 14);
    s.audio_layers = size("n_audio_layer", 1024);
    s.text_context = size("n_text_ctx", 1 << 16);
    const std::uint32_t text_state = size("n_text_state", 1 << 14);
    s.text_heads = size("n_text_head", 1 << 14);
    s.text_layers = size("n_text_layer", 1024);
    s.mels = size("n_mels", 1024);
    at_.number<std::int32_t>("ftype");  // every tensor says its own format
    if (text_state != s.width)
      at_.stop("n_text_state", "n_audio_state = " + std::to_string(s.width), std::to_string(text_state));
    return s;
  }
  void filters(const settings& s) {
    const std::uint32_t mels = size("number of mel filters", 1024), bins = size("number of frequencies", 1 << 16);
    if (mels != s.mels || bins != 201)
      at_.stop("mel filters", "[" + std::to_string(s.mels) + " x 201]",
               "[" + std::to_string(mels) + " x " + std::to_string(bins) + "]");
    at_.take(std::uint64_t{4} * mels * bins, "the mel filters");
  }
  std::vector<std::string> tokens(const settings& s) {
    const std::uint32_t count = size("number of tokens", 1 << 20), wanted = text_tokens(s.vocabulary);
    if (count < wanted || count > s.vocabulary)
      at_.stop("number of tokens", std::to_string(wanted) + " to " + std::to_string(s.vocabulary),
               std::to_string(count));
    std::vector<std::string> all;
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto length = at_.number<std::uint32_t>("length of a token");
      const auto bytes = at_.take(length, "a token");
      if (i < wanted) all.push_back(byte_letters({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    return all;
  }
  std::vector<stored_tensor> tensors() {
    std::vector<stored_tensor> all;
    while (at_.remaining() > 0) all.push_back(tensor());
    return all;
  }

 private:
  std::uint32_t size(const char* what, std::int32_t most) {
    const auto n = at_.number<std::int32_t>(what);
    if (n < 1 || n > most) at_.stop(what, "1 to " + std::to_string(most), std::to_string(n));
    return static_cast<std::uint32_t>(n);
  }
  stored_tensor tensor() {
    const std::uint32_t rank = size("number of dimensions", 3), name_length = size("length of a name", 256);
    const auto type = at_.number<std::int32_t>("format of a tensor");
    stored_tensor t;
    t.shape.resize(rank);
    std::uint64_t count = 1;
    for (std::uint32_t i = 0; i < rank; ++i) {
      const std::uint32_t n = size("a dimension", 1 << 24);
      t.shape[rank - 1 - i] = n;
      if (!checked_multiply(count, n, count)) at_.stop("the dimensions of a tensor are too large");
    }
    const auto name = at_.take(name_length, "a name");
    t.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
    const auto format = find_dtype(type);
    if (!format || format->type == dtype::i32)
      at_.stop("tensor " + steno::quoted(t.name) + ": format " + std::to_string(type) + " is not known");
    if (static_cast<std::uint64_t>(t.shape.back()) % format->elements != 0)
      at_.stop("tensor " + steno::quoted(t.name) + ": rows of " + std::to_string(t.shape.back()) +
               " are not whole blocks of " + std::string(format->name));
    std::uint64_t size = 0;
    if (!checked_multiply(count / format->elements, format->bytes, size))
      at_.stop("tensor " + steno::quoted(t.name) + " is too large");
    t.stored = format->type;
    t.bytes = at_.take(size, "the data of a tensor");
    t.read = [bytes = t.bytes, stored = t.stored](std::span<float> out) {
      dequantise(stored, bytes.data(), out.data(), out.size());
    };
    return t;
  }

  byte_cursor at_;
};

}  // namespace

bool is_ggml(const fs::path& path) { return file_starts_with(path, "lmgg"); }

imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes, std::shared_ptr<void> keep) {
  reader in(where, bytes);
  const settings s = in.header();
  in.filters(s);
  std::vector<std::string> tokens = in.tokens(s);
  std::vector<stored_tensor> tensors = in.tensors();
  if (tensors.empty())
    fail({.where = where, .what = "holds no tensors", .hint = "it is one of whisper.cpp's files for its own tests"});
  return package(where, s, std::move(tokens), std::move(tensors), std::move(keep));
}

imported_model import_ggml(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const auto file = std::make_shared<mapped_file>(path.string());
  return read_ggml(path.string(), file->bytes(), file);
}

}  // namespace steno::inline STENO_ABI::whisper_files

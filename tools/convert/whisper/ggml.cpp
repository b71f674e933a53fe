// tools/convert/whisper/ggml.cpp - whisper.cpp's .bin, the container ggml had before GGUF; see whisper.hpp.
//
//   u32 magic "lmgg"; i32 n_vocab, audio ctx, state, head, layer, text ctx, state, head, layer, n_mels, ftype
//   i32 mels, i32 bins, f32 [mels][bins]            the mel filters, which steno computes itself
//   i32 count, then u32 length and bytes of a token
//   the tensors, as in ggml_file.hpp
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include "content.hpp"
#include "ggml_file.hpp"
#include "limits.hpp"
#include "whisper/whisper.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace whisper_files {

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
    s.audio_layers = size("n_audio_layer", limits::layers);
    s.text_context = size("n_text_ctx", 1 << 16);
    const std::uint32_t text_state = size("n_text_state", 1 << 14);
    s.text_heads = size("n_text_head", 1 << 14);
    s.text_layers = size("n_text_layer", limits::layers);
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
  string_list tokens(const settings& s) {
    const std::uint32_t count = size("number of tokens", 1 << 20), wanted = text_tokens(s.vocabulary);
    if (count < wanted || count > s.vocabulary)
      at_.stop("number of tokens", std::to_string(wanted) + " to " + std::to_string(s.vocabulary),
               std::to_string(count));
    string_list all;
    all.reserve(wanted, 8);
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto length = at_.number<std::uint32_t>("length of a token");
      const auto bytes = at_.take(length, "a token");
      if (i < wanted) all.push_back(byte_letters({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
    }
    return all;
  }
  std::vector<stored_tensor> tensors(weights::mapped_file* file) { return ggml_tensors(at_, 1, 3, file); }

 private:
  std::uint32_t size(const char* what, std::int32_t max) { return ggml_size(at_, what, 1, max); }

  weights::byte_cursor at_;
};

}  // namespace

bool is_ggml(const fs::path& path) { return file_starts_with(path, ggml_magic); }

imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes,
                         std::shared_ptr<weights::mapped_file> file) {
  reader in(where, bytes);
  const settings s = in.header();
  in.filters(s);
  string_list tokens = in.tokens(s);
  std::vector<stored_tensor> tensors = in.tensors(file.get());
  if (tensors.empty())
    fail({.where = where, .what = "holds no tensors", .hint = "it is one of whisper.cpp's files for its own tests"});
  return package(where, s, std::move(tokens), std::move(tensors), std::move(file));
}

imported_model import_ggml(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const auto file = std::make_shared<weights::mapped_file>(path.string());
  return read_ggml(path.string(), file->bytes(), file);
}

}  // namespace whisper_files
}  // namespace STENO_ABI
}  // namespace steno

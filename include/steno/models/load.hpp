// steno/models/load.hpp - a model from a file: map, bind by name, pack the products, give the packed pages back.
//
// Memory: f32 products read the mapped file in place; all others are repacked once (kernels/packed_layout.hpp) and the
// pages of the originals are released, so the weights are never held twice. Norms and biases are copied. Tested in
// tests/models/sense_voice_test.cpp.
#pragma once
#include <steno/core/executor.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/weights/binder.hpp>
#include <steno/weights/gguf.hpp>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace steno::inline STENO_ABI {

/// What a loaded model's weights point into. Move-only; lives inside the model.
struct model_memory {
  std::vector<std::byte> image;  ///< a file that was converted in memory; empty for a mapped one
  std::optional<gguf_file> file;
  storage owned;
};

namespace detail {
/// Takes weights from a file into memory of their own: packs products, copies what is small.
class weight_keeper {
 public:
  /// Without a file nothing is given back.
  weight_keeper(const gguf_file* file, storage& keep, const executor& run) : file_(file), keep_(keep), run_(run) {}

  STENO_COLD void take(const weight_ref& w, bool product, const std::byte*& data, const std::byte*& packed) {
    if (w.data == nullptr) return;
    const std::size_t size = product ? kernels::packed_bytes(w) : 0;
    if (size != 0) {
      std::byte* out = keep_.allocate(size);
      kernels::pack(w, out, run_);
      packed = out;
      packed_ = true;
    } else if (w.bytes() <= small) {
      std::byte* out = keep_.allocate(w.bytes());
      std::memcpy(out, w.data, w.bytes());
      data = out;
      return;
    }
    if (size != 0) release({w.data, w.bytes()});
  }
  /// Where products were packed, the rest of the file's pages go, too; what is still read from them comes back.
  void finish(std::span<const std::byte> all) {
    if (packed_) release(all);
  }

 private:
  // A bias or norm read from the file would bring the pages around it back, which is most of the file.
  static constexpr std::size_t small = 1u << 16;
  void release(std::span<const std::byte> bytes) {
    if (file_ == nullptr) return;
    tensor_ref t;
    t.bytes = bytes;
    file_->release(t);
  }

  const gguf_file* file_;
  storage& keep_;
  executor run_;
  bool packed_ = false;
};
}  // namespace detail

/// Packs every product of `model` that its kernel wants packed, and copies small tensors, into `keep`. The pages of
/// `file` (if there is one) that are not needed any more go back to the system.
template <composite Model>
STENO_COLD void keep_weights(Model& model, const gguf_file* file, storage& keep, const executor& run) {
  detail::weight_keeper keeper(file, keep, run);
  walk(model, [&]<class Leaf>(const std::string&, Leaf& leaf, bool) {
    if constexpr (weight_leaf<Leaf>) keeper.take(leaf.ref(), Leaf::purpose == use::product, leaf.data, leaf.packed);
  });
  if (file != nullptr) keeper.finish(file->bytes());
}

/// A model from an open file. Throws steno::error when the file holds another model or does not fit the type.
template <class Model>
STENO_COLD Model load(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {}) {
  const std::string found = file.text("general.architecture").value_or("");
  if (found != Model::architecture)
    fail({.where = file.where(),
          .what = "general.architecture",
          .expected = "\"" + std::string(Model::architecture) + "\"",
          .found = "\"" + found + "\"",
          .hint = "steno-convert makes a packaged file from a checkpoint"});
  Model model(file);
  model.memory.image = std::move(image);
  model.memory.file.emplace(std::move(file));
  const gguf_file& source = *model.memory.file;
  bind(model, source, model.memory.owned, Model::architecture);
  keep_weights(model, &source, model.memory.owned, run);
  return model;
}

/// A model from a packaged GGUF file at `path`.
template <class Model>
Model load(const std::string& path, const executor& run = {}) {
  return load<Model>(gguf_file(path), run);
}

}  // namespace steno::inline STENO_ABI

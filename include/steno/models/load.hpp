// steno/models/load.hpp - a model from a file: map, bind by name, pack the products, give the packed pages back.
//
// Memory: f32, f16 and bf16 products read the mapped file in place; q8_0 products are repacked once and the pages of
// the originals are released, so the weights are never held twice. Tested in tests/models/load_test.cpp.
#pragma once
#include <steno/core/executor.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/weights/binder.hpp>
#include <steno/weights/gguf.hpp>

#include <optional>
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

/// Packs every product of `model` that its kernel wants packed, into `keep`; tells `done(tensor bytes)` after each.
template <composite Model, class Done>
STENO_COLD void pack_products(Model& model, storage& keep, const executor& run, Done&& done) {
  walk(model, [&]<class Leaf>(const std::string&, Leaf& leaf, bool) {
    if constexpr (weight_leaf<Leaf>) {
      if constexpr (Leaf::purpose == use::product) {
        const weight_ref w = leaf.ref();
        if (w.data == nullptr || kernels::packed_bytes(w) == 0) return;
        std::byte* out = keep.allocate(kernels::packed_bytes(w));
        kernels::pack(w, out, run);
        leaf.packed = out;
        done(std::span<const std::byte>(w.data, w.bytes()));
      }
    }
  });
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
  pack_products(model, model.memory.owned, run, [&](std::span<const std::byte> bytes) {
    tensor_ref t;
    t.bytes = bytes;
    source.release(t);
  });
  return model;
}

/// A model from a packaged GGUF file at `path`.
template <class Model>
Model load(const std::string& path, const executor& run = {}) {
  return load<Model>(gguf_file(path), run);
}

}  // namespace steno::inline STENO_ABI

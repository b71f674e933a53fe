// tools/convert/torch/tensors.hpp - the tensors of a torch checkpoint as importers take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <memory>
#include <vector>

#include "model_tensors.hpp"
#include "torch/checkpoint.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace torch {

/// All tensors; they keep the checkpoint alive. Throws steno::error when they claim far more than the file holds.
inline std::vector<stored_tensor> stored_tensors(const std::shared_ptr<checkpoint>& c) {
  std::vector<stored_tensor> all;
  std::uint64_t total = 0;
  for (const checkpoint::entry& e : c->tensors()) {
    total += e.count * size_of_scalar(e.type);
    stored_tensor t;
    t.name = e.name;
    for (const std::uint64_t n : e.shape) t.shape.push_back(static_cast<extent>(n));
    t.stored = e.type == scalar::f16 ? dtype::f16 : e.type == scalar::bf16 ? dtype::bf16 : dtype::f32;
    t.read = [c, &e](std::span<float> out) { c->read(e, out); };
    if (e.type == scalar::f32 || t.stored != dtype::f32) {
      t.show = [c, &e] { return c->show(e); };
      t.file = c->file();
    }
    all.push_back(std::move(t));
  }
  // Tensors may share a storage, but a file whose every tensor is all of it is no checkpoint.
  if (total / 4 > c->size()) fail({.where = c->where(), .what = "the tensors claim far more than the file holds"});
  return all;
}

/// The same as a source of tensors.
inline checkpoint_tensors open_tensors(const std::filesystem::path& file) {
  const auto c = std::make_shared<checkpoint>(file);
  return {.where = file.string(), .all = stored_tensors(c)};
}

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno

// steno/models/load.hpp - a model from a file: map, bind by name, pack the products, give the packed pages back.
//
// Memory: f32 products read the mapped file in place; all others are repacked once (kernels/packed_layout.hpp) and the
// pages of the originals are released, so the weights are never held twice. Norms and biases are copied. Tested in
// tests/models/sense_voice_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>
#include <steno/core/stop_token.hpp>
#include <steno/error.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/weights/binder.hpp>
#include <steno/weights/gguf.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

namespace models {
/// What a loaded model's weights point into. Move-only; lives inside the model.
struct model_storage {
  std::vector<std::byte> image;   ///< a file that was converted in memory; empty for a mapped one
  std::optional<gguf_file> file;  ///< the file it was loaded from; nothing before load()
  weights::storage owned;         ///< packed products and copies of small tensors
};

namespace detail {
/// Whether f32 values are all finite: none, without its sign, reaches an exponent of ones.
STENO_ON_CALL inline bool finite_floats(std::span<const std::byte> bytes) noexcept {
  std::int32_t largest = 0;
  for (std::size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    std::int32_t v;
    std::memcpy(&v, bytes.data() + at, sizeof v);
    v &= 0x7fffffff;
    largest = v > largest ? v : largest;
  }
  return largest < 0x7f800000;
}
/// The number of the first value that is infinite or no number.
STENO_ON_CALL STENO_COLD inline std::optional<std::size_t> first_not_finite(dtype format,
                                                                            std::span<const std::byte> bytes) {
  if (format == dtype::f32 && finite_floats(bytes)) return std::nullopt;
  const core::dtype_info f = core::info(format);
  const std::size_t piece = 4096 / f.elements * f.elements, count = bytes.size() / f.bytes * f.elements;
  std::vector<float> values(std::min(piece, count));
  for (std::size_t at = 0; at < count; at += piece) {
    const std::size_t n = std::min(piece, count - at);
    weights::dequantise(format, bytes.data() + core::bytes_of(format, at), values.data(), n);
    bool finite = true;
    for (std::size_t i = 0; i < n; ++i) finite &= std::abs(values[i]) <= std::numeric_limits<float>::max();
    for (std::size_t i = 0; !finite && i < n; ++i)
      if (!std::isfinite(values[i])) return at + i;
  }
  return std::nullopt;
}
[[noreturn]] STENO_COLD inline void refuse_value(const std::string& where, std::string_view tensor, std::size_t value) {
  fail({.where = where,
        .what = "tensor " + steno::weights::quoted(tensor) + ", value " + std::to_string(value),
        .expected = "a finite number",
        .found = "infinity or NaN",
        .hint = "the file is damaged, or was converted from a damaged checkpoint"});
}

/// Takes weights from a file into memory of their own: packs products, copies what is small. What it takes is looked
/// at: a value that is no number is refused.
class weight_keeper {
 public:
  /// Without a file nothing is given back.
  weight_keeper(const gguf_file* file, weights::storage& keep, const executor& run)
      : file_(file), keep_(keep), run_(run) {}

  /// Sees every weight before any is taken: memory of a copied file is given back only when nobody needs it.
  STENO_ON_CALL STENO_COLD void expect(const weights::weight_ref& w, weights::use how) {
    if (file_ == nullptr || !file_->copied() || w.data == nullptr) return;
    needed_[w.data] += how == weights::use::product && packs(w, true) ? 1 : lasting;
  }
  STENO_ON_CALL STENO_COLD void take(const std::string& name, const weights::weight_ref& w, bool product,
                                     const std::byte*& data, const std::byte*& packed) {
    if (w.data == nullptr) return;
    if (packs(w, product)) {
      std::byte* out = keep_.allocate(kernels::packed_bytes(w));
      if (!kernels::pack(w, out, run_)) refuse(name, w);
      packed = out;
      packed_ = true;
      release(w);
      return;
    }
    if (w.bytes() > (product ? copied_up_to : looked_at_up_to)) return;
    if (first_not_finite(w.format, {w.data, w.bytes()})) refuse(name, w);
    if (w.bytes() <= copied_up_to) {
      std::byte* out = keep_.allocate(w.bytes());
      std::memcpy(out, w.data, w.bytes());
      data = out;
    }
  }
  /// Where products were packed, the rest of mapped files' pages go, too; what is still read from them comes back.
  STENO_ON_CALL void finish() const {
    if (packed_) file_->release_mapped();
  }

 private:
  // A bias or norm read from the file would bring the pages around it back, which is the larger part of the file.
  static constexpr std::size_t copied_up_to = 1u << 16;
  // Positions and the like, which every pass reads, are looked at; embeddings of large vocabularies are left alone.
  static constexpr std::size_t looked_at_up_to = 1u << 24;
  static constexpr int lasting = 1 << 20;

  static bool packs(const weights::weight_ref& w, bool product) { return product && kernels::packed_bytes(w) != 0; }
  STENO_ON_CALL [[noreturn]] STENO_COLD void refuse(const std::string& name, const weights::weight_ref& w) const {
    refuse_value(file_ != nullptr ? file_->where() : "", name,
                 first_not_finite(w.format, {w.data, w.bytes()}).value_or(0));
  }
  STENO_ON_CALL STENO_COLD void release(const weights::weight_ref& w) {
    if (file_ == nullptr) return;
    weights::tensor_ref t;
    t.bytes = {w.data, w.bytes()};
    if (!file_->copied() || --needed_[w.data] == 0)
      file_->release(t);
    else
      file_->release_mapped(t);
  }

  const gguf_file* file_;
  weights::storage& keep_;
  executor run_;
  bool packed_ = false;
  std::unordered_map<const std::byte*, int> needed_;  // of a copied file: who still has to read a tensor
};
}  // namespace detail

/// Packs every product of `model` that its kernel wants packed, and copies small tensors, into `keep`. The pages of
/// `file` (if there is one) that are not needed any more go back to the system. Throws steno::error for infinities and
/// NaN in what it packs or copies, steno::core::out_of_memory, and steno::core::cancelled between two tensors once
/// `stop` is requested.
template <core::composite Model>
STENO_COLD void keep_weights(Model& model, const gguf_file* file, weights::storage& keep, const executor& run,
                             const core::stop_token& stop = {}) {
  detail::weight_keeper keeper(file, keep, run);
  core::walk(model, [&]<class Leaf>(const std::string&, Leaf& leaf, bool) {
    if constexpr (core::weight_leaf<Leaf>) keeper.expect(leaf.ref(), Leaf::purpose);
  });
  core::walk(model, [&]<class Leaf>(const std::string& name, Leaf& leaf, bool) {
    if (stop.stop_requested()) throw core::cancelled();
    if constexpr (core::weight_leaf<Leaf>)
      keeper.take(name, leaf.ref(), Leaf::purpose != weights::use::rows, leaf.data, leaf.packed);
  });
  if (file != nullptr) keeper.finish();
}

/// Looks at every value of every tensor, also of those that loading leaves in the file (float products, tables of
/// rows): throws steno::error for the first that is infinite or no number. Reads the whole file.
STENO_ON_CALL STENO_COLD inline void check_weights(const gguf_file& file) {
  for (std::size_t i = 0; i < file.size(); ++i) {
    const weights::tensor_ref t = file.tensor(i);
    if (!core::holds_weights(t.format)) continue;
    if (const auto at = detail::first_not_finite(t.format, t.bytes)) detail::refuse_value(file.where(), t.name, *at);
    file.release_mapped(t);
  }
}

namespace detail {
/// Throws the exception at hand again: an error names the file, also one of a part that does not know it, and a lack of
/// memory is core::out_of_memory.
[[noreturn]] STENO_COLD inline void throw_naming(const std::string& where) {
  const auto at = [&](core::fault named) {
    if (named.where.empty()) named.where = where;
    return named;
  };
  try {
    throw;
  } catch (const core::cancelled&) {
    throw;
  } catch (const core::out_of_memory& e) {
    throw core::out_of_memory(at(e.parts()));
  } catch (const error& e) {
    fail(at(e.parts()));
  } catch (const std::bad_alloc&) {
    throw core::out_of_memory(at({.what = "out of memory while the model was loaded"}));
  } catch (const std::length_error&) {
    throw core::out_of_memory(at({.what = "out of memory while the model was loaded"}));
  }
}
STENO_ON_CALL STENO_COLD inline void require_architecture(const gguf_file& file, std::string_view wanted) {
  const std::string found = file.text("general.architecture").value_or("");
  if (found != wanted)
    fail({.where = file.where(),
          .what = "general.architecture",
          .expected = steno::weights::quoted(wanted),
          .found = steno::weights::quoted(found),
          .hint = "steno-convert makes a packaged file from a checkpoint"});
}
template <class Model>
STENO_COLD Model loaded(gguf_file file, const executor& run, std::vector<std::byte> image,
                        const core::stop_token& stop) {
  Model model(file);
  model.storage.image = std::move(image);
  model.storage.file.emplace(std::move(file));
  const gguf_file& source = *model.storage.file;
  weights::bind(model, source, model.storage.owned, Model::architecture);
  keep_weights(model, &source, model.storage.owned, run, stop);
  return model;
}
}  // namespace detail
}  // namespace models

/// A model from an open file. Throws steno::error when the file holds another model or does not fit the type, and
/// steno::core::cancelled once `stop` is requested.
template <class Model>
STENO_COLD Model load(gguf_file file, const executor& run = {}, std::vector<std::byte> image = {},
                      const core::stop_token& stop = {}) {
  const std::string where = file.where();
  models::detail::require_architecture(file, Model::architecture);
  try {
    return models::detail::loaded<Model>(std::move(file), run, std::move(image), stop);
  } catch (...) {
    models::detail::throw_naming(where);
  }
}

/// A model from a packaged GGUF file at `path`.
template <class Model>
STENO_COLD Model load(const std::string& path, const executor& run = {}, const core::stop_token& stop = {}) {
  return load<Model>(gguf_file(path), run, {}, stop);
}

}  // namespace STENO_ABI
}  // namespace steno

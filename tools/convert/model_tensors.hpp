// tools/convert/model_tensors.hpp - the tensors of a checkpoint, taken by walking the model that they are for.
//
// A family's model type with adopted extents says which tensors there are, by which names, of which shapes, which of
// them are products and, beside the name (core/stored.hpp), how checkpoints store what steno keeps otherwise. Front end
// and tokenizer of the model, and its settings, are those of the packaged file's keys, so what is written has passed
// the checks that loading makes. What is missing, misshapen or unexpected is named in one error. Tested in
// tests/convert/model_tensors_test.cpp and with every family.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/error.hpp>
#include <steno/weights/binder.hpp>
#include <steno/weights/gguf.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "imported_model.hpp"
#include "stored_tensor.hpp"

namespace steno {
inline namespace STENO_ABI {

/// What a batch norm does to the convolution before it: y = (x - before) scale + after. Without `before`, x scale is
/// rounded to a float by itself.
struct folded_norm {
  std::vector<double> scale = {}, before = {}, after = {};
};

/// A size that the settings give and tensors show: of all weights whose names match, where `*` stands for anything.
/// One that may be absent elsewhere must be there.
struct promised_size {
  std::string names;
  extent rows = dynamic, cols = dynamic;  ///< as the weight is kept; a vector's length is `cols`
};
/// How many members PATH.0, PATH.1, ... there are.
struct promised_count {
  std::string path;
  extent count = 0;
};

/// Tensors that may be there without a use: their names end so, or go on below such a name.
struct ignored_names {
  // NOLINTNEXTLINE(google-explicit-constructor): a name alone says that the tensor serves training
  constexpr ignored_names(const char* name, std::string_view why = "serves training alone") : end(name), reason(why) {}
  std::string_view end, reason;
};

/// A checkpoint: its tensors, and what is usual in its kind of files.
struct checkpoint_tensors {
  std::string where;  ///< for messages
  std::vector<stored_tensor> all = {};
  std::vector<promised_size> sizes = {};
  std::vector<promised_count> counts = {};
  std::vector<ignored_names> ignored = {};

  enum class shapes {
    exact,
    without_ones,  ///< axes of size 1 come and go
    counts,        ///< the number of values is compared, and what the first axis says
    kept,          ///< all are laid out as in a packaged file
    taps_kept,     ///< depthwise kernels are laid out as in a packaged file
  };
  shapes compared = shapes::exact;
  bool in_order = false;                      ///< the packaged file has the checkpoint's order, not the model's
  bool widened = false;                       ///< products in a format without a kernel become f16
  std::optional<bool> optional_weights = {};  ///< whether all that may be absent are there; not known: as they are

  /// The checkpoint's name for a model's; empty: they are the same.
  std::function<std::string(const std::string& name)> named = {};
  /// Batch norms are two vectors, scale and shift, instead of weight, bias, running_mean and running_var.
  bool norms_are_folded = false;
};

/// What is wrong with one tensor.
struct tensor_problem {
  enum class kind { missing, misshapen, unexpected };
  kind what;
  std::string name;
  std::string says;  ///< behind the name: what was expected and found
  std::string text() const { return steno::weights::quoted(name) + says; }
};
/// Thrown where the tensors are not the model's: its message names the first of them, `problems` all.
class tensors_differ : public error {
 public:
  tensors_differ(core::fault message, std::vector<tensor_problem> all, std::vector<imported_tensor> fit)
      : error(std::move(message)), problems(std::move(all)), read(std::move(fit)) {}
  std::vector<tensor_problem> problems;
  std::vector<imported_tensor> read;  ///< those that are as the model expects them
};

/// The tensor of this name, or null.
const stored_tensor* find(const checkpoint_tensors& from, const std::string& name);
/// Takes a tensor out that the model has not. Throws steno::error when it is missing or has another shape.
std::vector<float> take_values(checkpoint_tensors& from, const std::string& name, const std::vector<extent>& shape);

/// Takes the tensors of the model whose keys `model.file` has, or a file of its own. Throws steno::error.
void take_tensors(imported_model& model, checkpoint_tensors from);
void take_tensors(imported_model& model, const gguf_file& keys, checkpoint_tensors from);

/// Tensor `number` of `file` as it is; `file` must outlive it. Throws steno::error for a format without values.
stored_tensor take_tensor(gguf_file& file, std::size_t number);

/// All tensors of `file`, which must outlive them, in its order. Throws steno::error.
checkpoint_tensors all_tensors(gguf_file& file);

/// Adds cmvn.shift and cmvn.scale, in place of any there.
void add_cmvn(imported_model& model, std::vector<float> shift, std::vector<float> scale);

/// [1 x 2 x 3]; "any" for what is not known.
std::string shape_text(const std::vector<extent>& shape);

/// A matrix of one row is one all the same: vectors are what layers read as rows of floats.
template <core::weight_leaf W>
inline constexpr bool is_vector = W::static_rows == 1 && W::purpose == weights::use::rows;

/// What the walk of a model sees; see take_tensors().
class tensor_taker {
 public:
  using reads_stored = void;
  tensor_taker(const gguf_file& keys, const std::string& architecture, checkpoint_tensors& from);

  template <core::weight_leaf W>
  void operator()(const std::string& path, W& w, bool optional, const core::stored& how) {
    static constexpr std::byte there{};
    extent rows = W::static_rows, cols = W::static_cols;
    w.data = nullptr;
    if (!take({path, how, is_vector<W>, W::static_format == dtype::any && !how.f32, optional}, rows, cols)) return;
    w.adopt(rows, cols);
    w.data = &there;
  }
  template <core::setting_leaf N>
  void operator()(const std::string& path, N& n, bool optional, const core::stored&) {
    settings_(path, n, optional);
  }
  void equal(const std::string& path, std::string_view what, extent a, extent b) { settings_.equal(path, what, a, b); }
  void within(const std::string& path, std::string_view what, extent value, extent low, extent high) {
    settings_.within(path, what, value, low, high);
  }
  void require(const std::string& path, bool ok, std::string_view what, std::string_view expected, extent found) {
    settings_.require(path, ok, what, expected, found);
  }
  std::optional<extent> count(const std::string& path);

  /// The tensors. Throws tensors_differ when some are missing, misshapen or unexpected.
  std::vector<imported_tensor> finish();
  /// After finish(): what the checkpoint has without a use.
  std::vector<ignored_tensor> ignored() const { return ignored_; }
  /// One error that names all sizes and settings that do not agree.
  void check_settings() const { settings_.report(); }
  /// A product was in a format without a kernel.
  bool widened() const noexcept { return widened_; }

 private:
  struct weight_wanted {
    const std::string& path;
    const core::stored& how;
    bool vector, product, optional;
  };
  struct kept_shape {
    extent rows, cols;
  };
  bool take(const weight_wanted& w, extent& rows, extent& cols);
  bool expect(const weight_wanted& w, kept_shape& shape);
  void add(const weight_wanted& w, const core::stored& how, stored_tensor* t, kept_shape shape);
  std::shared_ptr<const folded_norm> norm_of(const weight_wanted& w, extent channels);
  stored_tensor* find(const std::string& name);
  std::string named(const std::string& name) const { return from_.named ? from_.named(name) : name; }
  std::string layer_name(const std::string& path) const;
  void note_missing(const std::string& name) {
    problems_.push_back({tensor_problem::kind::missing, name, " is missing"});
  }
  void note_shape(const stored_tensor& t, const std::vector<extent>& expected);

  checkpoint_tensors& from_;
  std::string architecture_;
  weights::storage keep_;
  weights::detail::binding<gguf_file> settings_;
  std::map<std::string, std::size_t> numbers_;  // of all tensors
  std::vector<bool> used_;
  std::vector<std::string> repeats_;         // paths whose numbered members are equal
  std::map<std::string, kept_shape> known_;  // by a name's layer_name()
  std::map<std::string, std::shared_ptr<const folded_norm>> norms_;
  std::vector<std::pair<std::size_t, imported_tensor>> taken_;  // with their numbers
  std::vector<tensor_problem> problems_;
  std::vector<ignored_tensor> ignored_;
  bool widened_ = false;
};

/// Walks a model of this type with the keys' settings.
template <class Model>
void walk_model(const gguf_file& keys, tensor_taker& taker) {
  Model model(keys);
  core::walk(model, taker);
}

/// A tensor of a model whose extents are known.
struct expected_tensor {
  std::string name;
  std::vector<extent> shape;  ///< in a checkpoint
  std::vector<extent> kept;   ///< in a packaged file
  bool product = false;
  bool optional = false;
};
/// Shape in a checkpoint of a weight that is kept as [rows, cols].
std::vector<extent> checkpoint_shape(const core::stored& how, bool vector, extent rows, extent cols);

namespace detail {
struct tensor_listing {
  using reads_stored = void;
  std::vector<expected_tensor> all = {};
  template <class Leaf>
  void operator()(const std::string& path, Leaf&, bool optional, const core::stored& how) {
    if constexpr (core::weight_leaf<Leaf>) {
      constexpr bool vector = is_vector<Leaf>;
      all.push_back({.name = path,
                     .shape = checkpoint_shape(how, vector, Leaf::static_rows, Leaf::static_cols),
                     .kept = checkpoint_shape({}, vector, Leaf::static_rows, Leaf::static_cols),
                     .product = Leaf::static_format == dtype::any && !how.f32,
                     .optional = optional || how.zeros});
    }
  }
};
}  // namespace detail

/// The tensors of a model, in its order; extents that are not known are `dynamic`.
template <core::composite Model>
std::vector<expected_tensor> expected_tensors(Model& model) {
  detail::tensor_listing list;
  core::walk(model, list);
  return std::move(list.all);
}

}  // namespace STENO_ABI
}  // namespace steno

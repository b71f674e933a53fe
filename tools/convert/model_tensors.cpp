// tools/convert/model_tensors.cpp - see model_tensors.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "model_tensors.hpp"

#include <steno/error.hpp>
#include <steno/kernels/pack.hpp>
#include <steno/weights/blocks.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <utility>

#include "families.hpp"
#include "glob.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

constexpr std::size_t max_problems = 8;

bool fits(const std::vector<extent>& found, const std::vector<extent>& wanted) {
  if (found.size() != wanted.size()) return false;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!core::compatible(found[i], wanted[i])) return false;
  return true;
}
std::vector<extent> without_ones(std::vector<extent> shape) {
  std::erase(shape, 1);
  return shape;
}
extent product_of(const std::vector<extent>& shape) {
  extent n = 1;
  for (const extent e : shape) n *= e;
  return n;
}

// Rows and columns of what is stored as `shape`; where the rows are known, axes of size 1 may be gone.
std::pair<extent, extent> kept_extents(const core::stored& how, bool vector, const std::vector<extent>& shape,
                                       extent rows, extent cols) {
  const extent count = product_of(shape);
  if (vector) return {1, count};
  const bool columns_first = how.how == core::stored::form::taps || how.how == core::stored::form::spread;
  const extent outer = columns_first ? cols : rows;
  const extent first = core::is_static(outer) ? outer : shape.empty() ? 1 : shape[0];
  if (first == 0 || count % first != 0) return {0, 0};
  return columns_first ? std::pair(count / first, first) : std::pair(first, count / first);
}

// Whether the values have another order where they are kept.
bool laid_out_anew(const core::stored& how, extent rows, extent cols, extent inputs) {
  if (how.how == core::stored::form::taps || how.how == core::stored::form::spread) return true;
  if (how.turned) return true;
  if (how.how == core::stored::form::kernel) return inputs != 1 && inputs != cols;
  return how.how == core::stored::form::bands_first && rows != 0;
}

using reader = std::function<void(std::span<float>)>;

// The order in which a tensor's values are kept: extents of the kept one, and for a step along each of them how many
// values of the stored one are passed over.
struct value_order {
  std::array<std::size_t, 4> extents, steps;

  template <std::size_t Bytes>
  void move(const std::byte* from, std::byte* to) const {
    for (std::size_t a = 0; a < extents[0]; ++a)
      for (std::size_t b = 0; b < extents[1]; ++b)
        for (std::size_t c = 0; c < extents[2]; ++c) {
          const std::byte* at = from + Bytes * (a * steps[0] + b * steps[1] + c * steps[2]);
          for (std::size_t d = 0; d < extents[3]; ++d, at += Bytes * steps[3], to += Bytes) std::memcpy(to, at, Bytes);
        }
  }
};
reader in_order(reader read, const value_order& order) {
  return [read = std::move(read), order](std::span<float> y) {
    std::vector<float> x(y.size());
    read(x);
    order.move<sizeof(float)>(std::as_bytes(std::span(x)).data(), std::as_writable_bytes(y).data());
  };
}
// How the stored values are brought into the order of [rows, cols]; `inputs` of a kernel.
value_order order_of(const core::stored& how, std::size_t rows, std::size_t cols, std::size_t inputs) {
  const auto first = static_cast<std::size_t>(how.first), second = static_cast<std::size_t>(how.second);
  if (how.how == core::stored::form::taps)  // [channels, taps] to [taps, channels]
    return {{1, 1, rows, cols}, {0, 0, 1, rows}};
  if (how.how == core::stored::form::spread)  // [inputs, outputs, taps] to [taps, outputs, inputs]
    return {{1, first, rows / first, cols}, {0, 1, first, rows}};
  if (how.turned)  // [rows, inputs, height, width] to [rows, width, height, inputs]
    return {{rows, second, first, inputs}, {cols, 1, second, first * second}};
  const std::size_t rest = cols / inputs;  // [rows, inputs, rest] to [rows, rest, inputs]
  return {{1, rows, rest, inputs}, {0, cols, 1, rest}};
}
reader scaled(reader read, std::size_t columns, std::shared_ptr<const folded_norm> norm) {
  return [read = std::move(read), columns, norm = std::move(norm)](std::span<float> y) {
    read(y);
    for (std::size_t i = 0; i < y.size(); ++i)
      y[i] = static_cast<float>(static_cast<double>(y[i]) * norm->scale[i % columns]);
  };
}
reader bias_after(reader read, std::shared_ptr<const folded_norm> norm) {
  return [read = std::move(read), norm = std::move(norm)](std::span<float> y) {
    std::fill(y.begin(), y.end(), 0.0f);
    if (read) read(y);
    for (std::size_t i = 0; norm != nullptr && i < y.size(); ++i) {
      const auto x = static_cast<double>(y[i]);
      y[i] = norm->before.empty() ? static_cast<float>(x * norm->scale[i]) + static_cast<float>(norm->after[i])
                                  : static_cast<float>((x - norm->before[i]) * norm->scale[i] + norm->after[i]);
    }
  };
}
extent positions(const core::stored& how) { return std::max<extent>(how.first, 1) * std::max<extent>(how.second, 1); }

}  // namespace

std::string shape_text(const std::vector<extent>& shape) {
  std::string text = "[";
  for (const extent n : shape)
    text.append(text.size() == 1 ? "" : " x ").append(core::is_static(n) ? std::to_string(n) : std::string("any"));
  return text.append("]");
}

std::vector<extent> checkpoint_shape(const core::stored& how, bool vector, extent rows, extent cols) {
  const auto part = [](extent n, extent of) { return core::is_static(n) ? n / of : n; };
  using form = core::stored::form;
  if (how.how == form::heads) return {how.first, part(cols, std::max<extent>(how.first, 1))};
  if (vector) return {cols};
  std::vector<extent> shape{rows, cols};
  if (how.how == form::taps) shape = {cols, 1, how.first != 0 ? how.first : rows};
  if (how.how == form::kernel) shape = {rows, part(cols, positions(how)), how.first};
  if (how.how == form::spread) shape = {cols, part(rows, positions(how)), how.first};
  if ((how.how == form::taps || how.how == form::kernel) && how.second != 0) shape.push_back(how.second);
  return shape;
}

tensor_taker::tensor_taker(const gguf_file& keys, const std::string& architecture, checkpoint_tensors& from)
    : from_(from), architecture_(architecture), settings_(keys, keep_, architecture + "."), used_(from.all.size()) {
  for (std::size_t i = 0; i < from_.all.size(); ++i)
    if (!numbers_.emplace(from_.all[i].name, i).second)
      fail({.where = from_.where, .what = "tensor " + steno::weights::quoted(from_.all[i].name) + " is there twice"});
}

std::optional<extent> tensor_taker::count(const std::string& path) {
  repeats_.push_back(path + ".");
  for (const promised_count& c : from_.counts)
    if (c.path == path) return c.count;
  const std::string before = named(repeats_.back());
  extent n = 0;
  for (auto at = numbers_.lower_bound(before); at != numbers_.end() && at->first.starts_with(before); ++at) {
    const std::string_view rest = std::string_view(at->first).substr(before.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (digits == 0 || digits > 5 || digits == rest.size() || rest[digits] != '.') continue;
    n = std::max(n, static_cast<extent>(std::stol(std::string(rest.substr(0, digits)))) + 1);
  }
  // Every repeated member has tensors of its own.
  return std::min(n, static_cast<extent>(from_.all.size()));
}

stored_tensor* tensor_taker::find(const std::string& name) {
  const auto at = numbers_.find(name);
  if (at == numbers_.end()) return nullptr;
  used_[at->second] = true;
  return &from_.all[at->second];
}

// The name without the number of its layer: layers of one kind are equal.
std::string tensor_taker::layer_name(const std::string& path) const {
  for (const std::string& r : repeats_)
    if (path.starts_with(r)) return r + path.substr(std::min(path.find('.', r.size()), path.size()));
  return path;
}

// Completes `shape` by what the settings and earlier layers say; true when the settings say something.
bool tensor_taker::expect(const weight_wanted& w, kept_shape& shape) {
  bool promised = false;
  const auto merge = [&](extent rows, extent cols) {
    if (!core::is_static(shape.rows)) shape.rows = rows;
    if (!core::is_static(shape.cols)) shape.cols = cols;
  };
  for (const promised_size& s : from_.sizes)
    if (matches_glob(s.names, w.path)) {
      merge(s.rows, s.cols);
      promised = true;
    }
  if (const auto at = known_.find(layer_name(w.path)); at != known_.end()) merge(at->second.rows, at->second.cols);
  return promised;
}

bool tensor_taker::take(const weight_wanted& w, extent& rows, extent& cols) {
  kept_shape wanted{rows, cols};
  const bool promised = expect(w, wanted);
  const std::string name = named(w.path);
  const auto known = numbers_.find(name);
  const bool again = known != numbers_.end() && used_[known->second];  // a matrix that serves twice
  stored_tensor* const t = find(name);
  core::stored how = w.how;
  using shapes = checkpoint_tensors::shapes;
  if (from_.compared == shapes::kept || (from_.compared == shapes::taps_kept && how.how == core::stored::form::taps &&
                                         t != nullptr && t->shape.size() == 2))
    how.how = core::stored::form::same;
  if (from_.compared == shapes::kept) how = {};
  if (w.vector && how.how != core::stored::form::heads) {
    how.how = core::stored::form::same;
    how.turned = false;
  }
  const std::vector<extent> expected = checkpoint_shape(how, w.vector, wanted.rows, wanted.cols);
  if (t == nullptr) {
    if ((!w.optional && !how.zeros) || promised || from_.optional_weights.value_or(false)) {
      note_missing(name);
      return false;
    }
    if (!how.zeros) return false;
  } else {
    if ((w.optional || how.zeros) && !from_.optional_weights.value_or(true)) {
      used_[numbers_.at(name)] = false;  // finish() says that it is too much
      return false;
    }
    bool same = fits(t->shape, expected);
    if (from_.compared == shapes::without_ones) same = fits(without_ones(t->shape), without_ones(expected));
    if (from_.compared == shapes::counts) same = true;
    const auto [r, c] = kept_extents(how, w.vector, t->shape, wanted.rows, wanted.cols);
    if (how.how == core::stored::form::kernel && c % positions(how) != 0) same = false;
    if (how.how == core::stored::form::spread && r % positions(how) != 0) same = false;
    if (how.how == core::stored::form::bands_first) {
      if (how.first == 0) return false;  // the convolution before it is missing
      same = same && c % how.first == 0;
    }
    if (!same || r == 0 || c == 0 || !core::compatible(r, wanted.rows) || !core::compatible(c, wanted.cols)) {
      note_shape(*t, expected);
      return false;
    }
    wanted = {r, c};
  }
  if (!core::is_static(wanted.cols)) {  // a bias of zeros: as many as its convolution has channels
    const auto taps = known_.find(layer_name(w.path.substr(0, w.path.rfind('.')) + ".weight"));
    if (taps == known_.end()) return false;  // it is missing itself
    wanted.cols = taps->second.cols;
  }
  known_.emplace(layer_name(w.path), wanted);
  rows = wanted.rows;
  cols = wanted.cols;
  if (!again) add(w, how, t, wanted);
  return true;
}

std::shared_ptr<const folded_norm> tensor_taker::norm_of(const weight_wanted& w, extent channels) {
  // Beside the convolution that the weight is of.
  const std::string module = w.path.substr(0, w.path.rfind('.', w.path.rfind('.') - 1));
  const std::string name = module + "." + std::string(w.how.norm);
  auto& known = norms_[name];
  if (known != nullptr) return known;
  auto norm = std::make_shared<folded_norm>();
  known = norm;
  const auto values = [&](const char* part) {
    std::vector<float> v;
    const std::string full = named(name + "." + part);
    const stored_tensor* const t = find(full);
    if (t == nullptr)
      note_missing(full);
    else if (without_ones(t->shape) != without_ones({channels}))
      note_shape(*t, {channels});
    else
      v.resize(t->count());
    if (!v.empty() && t->read) t->read(v);
    v.resize(static_cast<std::size_t>(channels));
    return std::vector<double>(v.begin(), v.end());
  };
  if (from_.norms_are_folded) {
    norm->scale = values("scale");
    norm->after = values("shift");
    return known;
  }
  norm->scale = values("weight");
  norm->after = values("bias");
  norm->before = values("running_mean");
  const std::vector<double> variance = values("running_var");
  for (std::size_t i = 0; i < variance.size(); ++i) norm->scale[i] /= std::sqrt(variance[i] + 1e-5);
  return known;
}

void tensor_taker::add(const weight_wanted& w, const core::stored& how, stored_tensor* t, kept_shape shape) {
  const std::size_t number = t == nullptr ? 0 : static_cast<std::size_t>(t - from_.all.data());
  imported_tensor made{.name = w.path, .shape = {shape.rows, shape.cols}, .product = w.product};
  if (w.vector) made.shape = {shape.cols};
  if (t != nullptr) {
    if (from_.compared == checkpoint_tensors::shapes::kept) made.shape = t->shape;
    made.source = t->name;
    made.stored = t->stored;
    made.bytes = t->bytes;
    made.read = t->read;
    made.show = t->show;
    made.file = t->file;
  }
  const std::shared_ptr<const folded_norm> norm = how.norm.empty() ? nullptr : norm_of(w, shape.cols);
  const auto not_as_stored = [&] {
    made.bytes = {};
    made.show = {};
  };
  const auto rows = static_cast<std::size_t>(shape.rows), cols = static_cast<std::size_t>(shape.cols);
  const extent inputs = how.how == core::stored::form::kernel ? shape.cols / positions(how) : how.first;
  if (how.zeros && (norm != nullptr || t == nullptr)) {
    made.read = bias_after(std::move(made.read), norm);
    not_as_stored();
  } else if (laid_out_anew(how, shape.rows, shape.cols, inputs)) {
    const value_order order = order_of(how, rows, cols, static_cast<std::size_t>(inputs));
    made.read = in_order(std::move(made.read), order);
    // Blocks of other values have other scales.
    const dtype stored =
        std::exchange(made.stored, made.stored == dtype::f32 || made.stored == dtype::bf16 ? made.stored : dtype::f16);
    if (norm != nullptr)
      made.read = scaled(std::move(made.read), cols, norm);
    else if (stored == made.stored && !made.bytes.empty())
      made.write = [order, from = made.bytes, whole = stored == dtype::f32](std::span<std::byte> to) {
        whole ? order.move<4>(from.data(), to.data()) : order.move<2>(from.data(), to.data());
      };
    not_as_stored();
  }
  if (w.product && from_.widened && !kernels::has_product(made.stored)) {
    made.stored = dtype::f16;
    not_as_stored();
    widened_ = true;
  }
  taken_.emplace_back(number, std::move(made));
}

void tensor_taker::note_shape(const stored_tensor& t, const std::vector<extent>& expected) {
  problems_.push_back(
      {tensor_problem::kind::misshapen, t.name, " is " + shape_text(t.shape) + ", not " + shape_text(expected)});
}

std::vector<imported_tensor> tensor_taker::finish() {
  for (const auto& [name, number] : numbers_) {
    if (used_[number]) continue;
    const auto known = std::find_if(from_.ignored.begin(), from_.ignored.end(), [&n = name](const ignored_names& i) {
      return n.ends_with(i.end) || n.find(std::string(i.end) + ".") != std::string::npos;
    });
    if (known != from_.ignored.end())
      ignored_.push_back({name, std::string(known->reason)});
    else
      problems_.push_back({tensor_problem::kind::unexpected, name, " is not part of the model"});
  }
  if (from_.in_order)
    std::stable_sort(taken_.begin(), taken_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<imported_tensor> all;
  for (auto& [number, t] : taken_) all.push_back(std::move(t));
  if (problems_.empty()) return all;
  std::string text;
  for (std::size_t i = 0; i < std::min(problems_.size(), max_problems); ++i)
    text.append(i == 0 ? "" : ", ").append(problems_[i].text());
  if (problems_.size() > max_problems)
    text.append(", and ").append(std::to_string(problems_.size() - max_problems)).append(" more");
  throw tensors_differ(
      {.where = from_.where, .what = "the tensors are not those of " + architecture_ + " with these settings: " + text},
      std::move(problems_), std::move(all));
}

void take_tensors(imported_model& model, checkpoint_tensors from) {
  // Readers of packaged files make the model's front end and tokenizer, from the keys that will be written. Some look
  // at the rows of a tensor, too.
  std::vector<weights::tensor_ref> shown;
  extent rows = 0;
  for (const promised_size& s : from.sizes)
    if (const stored_tensor* const t = find(from, s.names);
        t != nullptr && s.rows > 0 && !t->shape.empty() && t->shape[0] == s.rows) {
      shown.push_back({.name = s.names, .format = dtype::f32, .rank = 2, .shape = {s.rows, extent{1}}, .bytes = {}});
      rows = std::max(rows, s.rows);
    }
  gguf_file keys(from.where, model.file.keys());
  if (rows > 0) {
    weights::mapped_file zeros(from.where, static_cast<std::size_t>(rows) * sizeof(float), [](std::span<std::byte>) {});
    for (weights::tensor_ref& t : shown)
      t.bytes = zeros.bytes().first(static_cast<std::size_t>(t.rows()) * sizeof(float));
    keys.borrow(std::move(zeros), shown);
  }
  take_tensors(model, keys, std::move(from));
}

void take_tensors(imported_model& model, const gguf_file& keys, checkpoint_tensors from) {
  const std::string architecture = keys.text("general.architecture").value_or("");
  const packaged_family* const family = find_packaged(architecture);
  if (family == nullptr)
    fail({.where = from.where, .what = "architecture " + steno::weights::quoted(architecture) + " is not known"});
  tensor_taker taker(keys, architecture, from);
  try {
    family->walk(keys, taker);
  } catch (const error& e) {  // the model refuses its settings
    core::fault named = e.parts();
    if (named.where.empty()) named.where = from.where;
    if (named.hint.empty()) named.hint = "of the packaged file, which steno could not load";
    fail(std::move(named));
  }
  for (imported_tensor& t : taker.finish()) model.tensors.push_back(std::move(t));
  for (ignored_tensor& t : taker.ignored()) model.ignored.push_back(std::move(t));
  taker.check_settings();
  if (taker.widened()) model.notes.push_back(from.where + ": weights in formats without a product are kept as f16");
}

const stored_tensor* find(const checkpoint_tensors& from, const std::string& name) {
  const auto at = std::find_if(from.all.begin(), from.all.end(), [&](const auto& t) { return t.name == name; });
  return at == from.all.end() ? nullptr : &*at;
}

std::vector<float> take_values(checkpoint_tensors& from, const std::string& name, const std::vector<extent>& shape) {
  const stored_tensor* const t = find(from, name);
  if (t == nullptr) fail({.where = from.where, .what = "tensor " + steno::weights::quoted(name) + " is missing"});
  if (t->shape != shape)
    fail({.where = from.where,
          .what = "tensor " + steno::weights::quoted(name),
          .expected = shape_text(shape),
          .found = shape_text(t->shape)});
  std::vector<float> values(t->count());
  t->read(values);
  std::swap(from.all[static_cast<std::size_t>(t - from.all.data())], from.all.back());
  from.all.pop_back();
  return values;
}

stored_tensor take_tensor(gguf_file& file, std::size_t number) {
  const weights::tensor_ref t = file.tensor(number);
  stored_tensor out;
  out.name = std::string(t.name);
  out.shape.assign(t.shape.begin(), t.shape.begin() + t.rank);
  out.stored = t.format;
  out.bytes = t.bytes;
  if (core::info(t.format).elements == 0)
    fail({.where = file.where(),
          .what = "tensor " + steno::weights::quoted(out.name) + " has the unsupported format " +
                  weights::format_name(t.format)});
  out.read = [t](std::span<float> values) {
    weights::dequantise(t.format, t.bytes.data(), values.data(), values.size());
  };
  out.file = &file.mapping();
  return out;
}

checkpoint_tensors all_tensors(gguf_file& file) {
  checkpoint_tensors from{.where = file.where()};
  for (std::size_t i = 0; i < file.size(); ++i) from.all.push_back(take_tensor(file, i));
  from.in_order = true;
  return from;
}

void add_cmvn(imported_model& model, std::vector<float> shift, std::vector<float> scale) {
  std::erase_if(model.tensors, [](const imported_tensor& t) { return t.name.starts_with("cmvn."); });
  for (auto* v : {&shift, &scale})
    model.tensors.push_back({.name = v == &shift ? "cmvn.shift" : "cmvn.scale",
                             .shape = {static_cast<extent>(v->size())},
                             .read = [values = std::move(*v)](std::span<float> out) {
                               std::copy(values.begin(), values.end(), out.begin());
                             }});
}

}  // namespace STENO_ABI
}  // namespace steno

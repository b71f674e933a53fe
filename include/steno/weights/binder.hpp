// steno/weights/binder.hpp - gives every weight of a model its tensor, by name, and checks everything before use.
//
// Walks `members`; compares static extents, adopts dynamic ones, converts where a weight promises f32, checks that
// sizes of neighbours agree. Everything missing, misshapen or unused is reported by name in one error. Tested in
// tests/weights/binder_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/members.hpp>
#include <steno/error.hpp>
#include <steno/weights/blocks.hpp>
#include <steno/weights/source.hpp>
#include <steno/weights/storage.hpp>
#include <steno/weights/weight.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace weights {

namespace detail {

STENO_COLD inline std::string shape_text(extent rows, extent cols) {
  const auto text = [](extent n) { return core::is_static(n) ? std::to_string(n) : std::string("any"); };
  std::string s = "[";
  if (rows != 1) s.append(text(rows)).append(" x ");
  return s.append(text(cols)).append("]");
}

template <weight_source S>
class binding {
 public:
  binding(const S& source, storage& keep, std::string prefix)
      : source_(source), keep_(keep), prefix_(std::move(prefix)) {}

  template <core::weight_leaf W>
  void operator()(const std::string& path, W& w, bool optional) {
    weight_ref found{.rows = W::static_rows, .cols = W::static_cols};
    if (!place(path, W::static_format, optional, found)) {
      w.data = w.packed = nullptr;
      return;
    }
    w.adopt(found.rows, found.cols);
    w.data = found.data;
    w.packed = nullptr;
    w.format = found.format;
  }

  template <core::setting_leaf N>
  void operator()(const std::string& path, N& n, bool optional) {
    if (const auto value = read_setting(path, N::static_value, N::min, N::max, optional)) n.adopt(*value);
  }

  void equal(const std::string& path, std::string_view what, extent a, extent b) {
    if (a != b && !incomplete_) differ(path, what, a, b);
  }
  STENO_COLD void differ(const std::string& path, std::string_view what, extent a, extent b) {
    problem((path.empty() ? "" : "\"" + path + "\": ") + std::string(what) + " differ: " + std::to_string(a) + " and " +
            std::to_string(b));
  }
  STENO_COLD void within(const std::string& path, std::string_view what, extent value, extent low, extent high) {
    if ((value >= low && value <= high) || incomplete_) return;
    problem((path.empty() ? "" : "\"" + path + "\": ") + std::string(what) + ": expected " + std::to_string(low) +
            " to " + std::to_string(high) + ", found " + std::to_string(value));
  }
  STENO_COLD void require(const std::string& path, bool ok, std::string_view what, std::string_view expected,
                          extent found) {
    if (ok || incomplete_) return;
    problem((path.empty() ? "" : "\"" + path + "\": ") + std::string(what) + ": expected " + std::string(expected) +
            ", found " + std::to_string(found));
  }

  /// Members PATH.0, PATH.1, ...: one more than the highest number.
  STENO_COLD std::optional<extent> count(const std::string& path) const {
    extent n = 0;
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const std::string_view name = source_.tensor(i).name;
      if (name.size() <= path.size() + 1 || !name.starts_with(path) || name[path.size()] != '.') continue;
      extent index = 0;
      std::size_t at = path.size() + 1;
      for (; at < name.size() && name[at] >= '0' && name[at] <= '9' && index < 100000; ++at)
        index = index * 10 + (name[at] - '0');
      if (at < name.size() && name[at] == '.' && at > path.size() + 1) n = std::max(n, index + 1);
    }
    // Every repeated member has tensors of its own, so a hostile index cannot make more members than the file has.
    return std::min(n, static_cast<extent>(source_.size()));
  }

  STENO_COLD void finish(const std::vector<std::string>& ignore) {
    for (std::size_t i = 0; i < source_.size(); ++i) {
      const std::string name(source_.tensor(i).name);
      if (!used_.contains(name) && std::find(ignore.begin(), ignore.end(), name) == ignore.end())
        problem("tensor \"" + name + "\": not part of this model");
    }
    report();
  }
  /// Throws steno::error when there was a problem.
  STENO_COLD void report() const {
    if (problems_.empty()) return;
    constexpr std::size_t shown = 6;
    std::string all = problems_[0];
    for (std::size_t i = 1; i < std::min(problems_.size(), shown); ++i) all += "; " + problems_[i];
    if (problems_.size() > shown) all += "; and " + std::to_string(problems_.size() - shown) + " more";
    fail({.where = source_.where(), .what = all});
  }

 private:
  // Finds and checks the tensor of one weight whose wanted extents are in `w`, and fills `w`. False: it has none.
  STENO_ON_CALL STENO_COLD bool place(const std::string& path, dtype wanted, bool optional, weight_ref& w) {
    const auto found = source_.find(path);
    if (!found) {
      if (!optional) note("tensor \"" + path + "\": missing", w.rows, w.cols);
      return false;
    }
    used_.insert(path);
    const tensor_ref& t = *found;
    const bool flat = w.rows == 1 && (t.rank <= 1 || t.rows() == 1);
    const extent rows = flat ? 1 : t.rows(), cols = t.cols();
    const auto refuse = [&](const std::string& what) {
      incomplete_ = true;
      problem("tensor \"" + path + "\": " + what);
      return false;
    };
    const std::string_view format = core::info(t.format).name;
    if (!core::compatible(w.rows, rows) || !core::compatible(w.cols, cols))
      return refuse("expected " + shape_text(w.rows, w.cols) + ", found " + t.shape_text() + " " + std::string(format));
    if (rows == 0 || cols == 0) return refuse("is empty");
    if (!core::holds_weights(t.format))
      return refuse("no weights are kept in the number format " + format_name(t.format));
    if (wanted != dtype::any && wanted != dtype::f32 && wanted != t.format)
      return refuse("expected " + std::string(core::info(wanted).name) + ", found " + std::string(format));
    w = {.data = t.bytes.data(), .format = t.format, .rows = rows, .cols = cols};
    if (wanted != dtype::f32) return true;
    const bool aligned = reinterpret_cast<std::uintptr_t>(w.data) % alignof(float) == 0;
    if (t.format == dtype::f32 && aligned) return true;
    const auto count = static_cast<std::size_t>(rows * cols);
    std::byte* values = keep_.allocate(count * sizeof(float));
    dequantise(t.format, w.data, reinterpret_cast<float*>(values), count);
    w.format = dtype::f32;
    w.data = values;
    return true;
  }

  STENO_COLD std::optional<extent> read_setting(const std::string& path, extent wanted, extent min, extent max,
                                                bool optional) {
    const auto [key, value] = lookup(path);
    if (!value) {
      if (optional || core::is_static(wanted)) return std::nullopt;
      incomplete_ = true;
      problem("key " + steno::weights::quoted(prefix_ + path) + ": missing");
      return std::nullopt;
    }
    const bool whole =
        *value >= static_cast<double>(min) && *value <= static_cast<double>(max) && std::floor(*value) == *value;
    if (whole && core::compatible(wanted, static_cast<extent>(*value))) return static_cast<extent>(*value);
    incomplete_ = true;  // what depends on it would only be reported again
    problem("key " + steno::weights::quoted(key) + ": expected " +
            (core::is_static(wanted) ? std::to_string(wanted)
                                     : "a whole number from " + std::to_string(min) + " to " + std::to_string(max)) +
            ", found " + number_text(*value));
    return std::nullopt;
  }

  struct found_setting {
    std::string key;
    std::optional<double> value;
  };
  STENO_COLD found_setting lookup(const std::string& path) const {
    // "encoder.encoders.3.self_attn.attention_heads" may be set for all layers as "encoder.attention_heads".
    const std::size_t last = path.rfind('.');
    const std::string name = last == std::string::npos ? path : path.substr(last + 1);
    std::string parent = last == std::string::npos ? "" : path.substr(0, last);
    for (;;) {
      std::string key = prefix_ + (parent.empty() ? name : parent + "." + name);
      if (auto v = source_.number(key)) return {std::move(key), v};
      if (parent.empty()) return {};
      const std::size_t dot = parent.rfind('.');
      parent = dot == std::string::npos ? "" : parent.substr(0, dot);
    }
  }
  STENO_COLD void note(std::string what, extent rows, extent cols) {
    incomplete_ = true;
    problem(what + ", expected " + shape_text(rows, cols));
  }
  STENO_ON_CALL STENO_COLD void problem(std::string what) { problems_.push_back(std::move(what)); }

  const S& source_;
  storage& keep_;
  std::string prefix_;
  std::unordered_set<std::string> used_;
  std::vector<std::string> problems_;
  bool incomplete_ = false;
};

}  // namespace detail

/// Binds all members of `model` to `source`. Settings are looked up under `prefix` + "." (with parents as fall-back);
/// tensors named in `ignore` may stay unused. Converted tensors live in `keep`. Throws steno::error naming everything
/// that is wrong. The source's bytes must outlive the model.
template <core::composite Model, weight_source S>
STENO_COLD void bind(Model& model, const S& source, storage& keep, std::string_view prefix,
                     const std::vector<std::string>& ignore = {}) {
  detail::binding<S> b(source, keep, std::string(prefix) + ".");
  core::walk(model, b);
  b.finish(ignore);
}

}  // namespace weights
}  // namespace STENO_ABI
}  // namespace steno

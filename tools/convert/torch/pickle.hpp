// tools/convert/torch/pickle.hpp - reads the pickles torch.save writes, without being able to run anything.
//
// A pickle is a program for a stack machine that may import and call any Python function. This machine knows the
// opcodes of protocols 2 to 5 and exactly the names in `pickle.cpp` (OrderedDict, set, torch's storage classes,
// torch.Size, _rebuild_tensor, _rebuild_tensor_v2, _rebuild_parameter, bytes): a pickle that names anything else is
// refused with that name. Values live in one table and refer to each other by index, so cyclic and deeply nested
// pickles cost no recursion. Tested in tests/convert/pickle_test.cpp, fuzzed by tests/fuzz/pickle_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace steno {
inline namespace STENO_ABI {
namespace torch {

/// Element types of torch storages.
enum class scalar : std::uint8_t { f32, f16, bf16, f64, i64, i32, i16, i8, u8, boolean };

std::size_t size_of_scalar(scalar type);       ///< bytes of one element
std::string_view name_of_scalar(scalar type);  ///< torch's name: "float32", ...

/// A storage as the pickle names it: elements [first, first + count) of the record `key`.
struct storage {
  std::string_view key = {};
  scalar type = scalar::f32;
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// A strided view of a storage, all in elements; checked to lie inside the storage.
struct tensor {
  std::uint32_t storage = 0;  ///< index into pickle::storages()
  std::uint64_t offset = 0;
  std::vector<std::uint64_t> shape, stride;
  std::uint64_t count = 0;  ///< product of the shape
};

/// One unpickled object and all it refers to. The bytes it was read from must outlive it (texts point into them).
class pickle {
 public:
  using id = std::uint32_t;
  enum class kind : std::uint8_t {
    none,
    boolean,
    integer,
    huge_integer,
    real,
    text,
    bytes,
    tuple,
    list,
    set,
    dict,
    global,
    storage,
    tensor
  };
  struct node {
    kind what = kind::none;
    std::int64_t number = 0;     // boolean, integer; index of global, storage, tensor
    double real = 0;             // real
    std::string_view text = {};  // text, bytes; huge_integer: its bytes, least significant first
    std::vector<id> items = {};  // tuple, list, set; dict: key, value, key, value, ...
  };

  /// Reads one pickle from the start of `bytes`; `where` names it in errors. Throws steno::error.
  pickle(std::span<const std::byte> bytes, std::string where);

  std::size_t end() const { return position_; }  ///< bytes the pickle took
  const node& root() const { return nodes_[root_]; }
  const node& at(id i) const { return nodes_[i]; }
  const std::vector<storage>& storages() const { return storages_; }
  const std::vector<tensor>& tensors() const { return tensors_; }
  /// The last value under a text key of a dict.
  const node* find(const node& dict, std::string_view key) const;

 private:
  [[noreturn]] void bad(const std::string& why) const;
  [[noreturn]] void refuse(std::string_view module, std::string_view name) const;
  void charge(std::uint64_t work);

  std::span<const std::byte> take(std::uint64_t count);
  std::uint64_t number(std::size_t bytes);
  std::string_view line();
  std::string_view text(std::uint64_t length);

  void push(id i) { stack_.push_back(i); }
  id add(node n);
  id pop();
  std::vector<id> pop_to_mark();
  node& top(kind wanted);
  void make(kind what, std::size_t count);
  void append(const std::vector<id>& items);
  void set_items(const std::vector<id>& items);

  bool step();
  void integer_text(std::string_view digits);
  void long_integer(std::span<const std::byte> digits);
  void global(std::string_view module, std::string_view name);
  void call(id callable, id arguments);
  id rebuild_tensor(const node& arguments);
  id persistent(id key);
  std::vector<std::uint64_t> sizes(id tuple) const;
  std::uint64_t size_argument(id i) const;

  std::span<const std::byte> bytes_;
  std::string where_;
  std::size_t position_ = 0;
  std::uint64_t work_ = 0;
  id root_ = 0;
  std::vector<node> nodes_;
  std::vector<id> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint64_t, id> memo_;
  std::vector<storage> storages_;
  std::vector<tensor> tensors_;
  std::deque<std::string> owned_;  // texts that are not in the file as such
};

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno

// tools/convert/torch/checkpoint.hpp - the tensors of a torch checkpoint by name, read one at a time.
//
// The state dict may be the object itself or lie under "state_dict", "model_state_dict" or "model" (as trainers write
// it); a prefix "module." that every name has (distributed training) is taken off. Views are made contiguous when read.
// Peak memory: the tensor asked for, and beside it the largest storage that is not one tensor's alone. What lies in the
// mapped file as it is wanted can be shown there. Tested in tests/convert/checkpoint_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/mapped_file.hpp>

#include "torch/archive.hpp"

#include <filesystem>

namespace steno {
inline namespace STENO_ABI {
namespace torch {

/// A state dict. Move-only; not thread-safe.
class checkpoint {
 public:
  struct entry {
    std::string name;
    scalar type = scalar::f32;
    std::vector<std::uint64_t> shape;
    std::uint64_t count = 0;  ///< elements

   private:
    friend class checkpoint;
    std::uint32_t tensor = 0;
  };

  /// Throws steno::error when the file is not a checkpoint, is damaged, or names something that is not data.
  explicit checkpoint(const std::filesystem::path& path);
  /// The same from memory that outlives the checkpoint. Of a part of a mapped file, pages that were read are given back
  /// to the system.
  checkpoint(std::span<const std::byte> bytes, std::string where, weights::mapped_file* part_of = nullptr);

  const std::string& where() const { return where_; }
  std::uint64_t size() const { return size_; }                    ///< of the file, in bytes
  const std::vector<entry>& tensors() const { return entries_; }  ///< in the checkpoint's order
  const entry* find(std::string_view name) const;
  /// A whole number in a dict beside the state dict (openai's "dims").
  std::optional<std::int64_t> integer(std::string_view dict, std::string_view key) const;

  /// The text keys of a dict beside the state dict; of the whole object when `dict` is empty.
  std::vector<std::string> keys(std::string_view dict) const;

  /// The values in row-major order, as floats; `out` has e.count elements.
  void read(const entry& e, std::span<float> out);
  /// The elements in row-major order, as stored; `out` has e.count * size_of_scalar(e.type) bytes.
  void read_bytes(const entry& e, std::span<std::byte> out);
  /// The same where they lie in the mapped file, if they do: in that order, aligned, not compressed, and with the right
  /// checksum where the container has one. Else empty.
  std::span<const std::byte> show(const entry& e);
  /// The file that they lie in; null: the checkpoint is not a part of one.
  weights::mapped_file* file() noexcept;

 private:
  void list();
  void list_dict(const pickle::node& dict);
  template <class F>
  void gather(const entry& e, F&& take);
  const weights::mapped_file& mapping() const noexcept { return part_of_ != nullptr ? *part_of_ : file_; }
  void release() const noexcept { mapping().release(bytes_); }

  weights::mapped_file file_;
  weights::mapped_file* part_of_ = nullptr;
  std::span<const std::byte> bytes_;
  std::string where_;
  std::uint64_t size_ = 0;
  archive archive_;
  std::vector<entry> entries_;
  std::unordered_map<std::string_view, std::size_t> index_;
};

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno

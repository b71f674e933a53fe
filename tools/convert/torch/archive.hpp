// tools/convert/torch/archive.hpp - the two containers torch.save has used: a zip archive, or pickles with raw
// storages.
//
// Zip (since torch 1.6): one top folder (any name) with data.pkl, data/<key> for each storage, and perhaps byteorder.
// Legacy: a pickled magic number, protocol 1001, system facts, the object, the list of storage keys, then for each key
// its number of elements (i64) and its bytes. Records are read one at a time, and libzip checks their CRC; what is not
// compressed can be shown where it lies.
// Tested in tests/convert/checkpoint_test.cpp, fuzzed by tests/fuzz/checkpoint_fuzz.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include "torch/pickle.hpp"

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

struct zip;

namespace steno {
inline namespace STENO_ABI {
namespace torch {

/// The object of a torch file and access to the bytes of its storages. Not thread-safe (one record is kept).
class archive {
 public:
  /// `bytes` must outlive the archive; `where` names it in errors. Throws steno::error.
  archive(std::span<const std::byte> bytes, std::string where);
  archive(archive&&) noexcept;
  ~archive();

  const pickle& object() const { return *object_; }
  /// All bytes of a storage's record; valid until the next call.
  std::span<const std::byte> record(const storage& s);
  std::uint64_t size_of_record(const storage& s) const;  ///< in bytes
  /// The same where they lie in the archive, not compressed and with the right CRC; else empty. Valid as long as that.
  std::span<const std::byte> stored_record(const storage& s);
  /// Hands the same bytes over in order, in pieces of whole elements, and keeps none.
  void pass_record(const storage& s, const std::function<void(std::span<const std::byte>)>& take) const;

 private:
  void open_zip();
  void open_legacy();
  std::uint64_t size_of_entry(const std::string& name, std::uint64_t* index = nullptr) const;
  std::vector<std::byte> read_entry(const std::string& name) const;
  template <class F>
  void read_pieces(const std::string& name, std::span<std::byte> piece, F&& take) const;
  std::string entry_of(const storage& s) const;
  std::span<const std::byte> legacy_record(const storage& s) const;
  [[noreturn]] void bad_entry(const std::string& name, const std::string& why) const;
  [[noreturn]] void bad(const std::string& why) const;

  std::span<const std::byte> stored_entry(const std::string& name);

  struct closer {
    void operator()(struct zip* z) const;
  };
  class source;  // the bytes, as libzip reads them
  std::span<const std::byte> bytes_;
  std::string where_;
  std::unique_ptr<source> source_;
  std::unique_ptr<struct zip, closer> zip_;
  std::string folder_;  // of a zip archive, with its '/'
  std::unordered_map<std::string, std::span<const std::byte>> legacy_records_;
  std::vector<std::byte> pickle_bytes_;
  std::unique_ptr<pickle> object_;
  std::unordered_map<std::string, std::span<const std::byte>> stored_;  // what stored_record() found
  std::string kept_name_;
  std::vector<std::byte> kept_;
};

}  // namespace torch
}  // namespace STENO_ABI
}  // namespace steno

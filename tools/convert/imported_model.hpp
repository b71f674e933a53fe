// tools/convert/imported_model.hpp - what an importer makes of a foreign checkpoint: keys and tensors of a packaged
// file.
//
// Importers decide names, shapes and keys; packaging (package.hpp) decides number formats and writes. Values are read
// when they are written, one tensor at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/weights/gguf.hpp>
#include <steno/weights/gguf_writer.hpp>
#include <steno/weights/mapped_file.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

struct imported_tensor {
  std::string name;
  std::string source = {};                ///< its name in the checkpoint; empty for what is made of other things
  std::vector<extent> shape;              ///< row-major, as stored in the packaged file
  dtype stored = dtype::f32;              ///< the number format it has now; f32 also for what GGUF has no format for
  bool product = false;                   ///< a matrix that only products read: its format may be chosen
  std::span<const std::byte> bytes = {};  ///< as stored, when the source can show them; else empty
  std::function<void(std::span<float>)> read = {};  ///< all values, row-major
  /// The same in format `stored`, of what the source can show in another order; else empty.
  std::function<void(std::span<std::byte>)> write = {};

  /// The bytes of a source that has to look at them first; may be empty, and is asked for what is not copied alone.
  std::function<std::span<const std::byte>()> show = {};

  weights::mapped_file* file = nullptr;  ///< that these lie in, where it is known; the model's source owns it

  std::uint64_t count() const {
    std::uint64_t n = 1;
    for (const extent e : shape) n *= static_cast<std::uint64_t>(e);
    return n;
  }
};

/// A tensor of the checkpoint that the packaged file does without.
struct ignored_tensor {
  std::string name, reason;
};

struct imported_model {
  std::string where;          ///< for error messages
  weights::gguf_writer file;  ///< holds all keys but general.file_type
  std::vector<imported_tensor> tensors;
  std::vector<ignored_tensor> ignored = {};
  std::vector<std::string> notes;      ///< what the user should know; one line each
  bool takes_tokenizer = false;        ///< `import_options::tokenizer` was used, or would have been
  bool takes_jieba_dict = false;       ///< the same of `import_options::jieba_dict`
  std::shared_ptr<const void> source;  ///< keeps alive what `bytes` and `read` use
};

}  // namespace STENO_ABI
}  // namespace steno

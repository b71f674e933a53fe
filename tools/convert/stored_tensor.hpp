// tools/convert/stored_tensor.hpp - a tensor of a foreign checkpoint, whatever container it lies in.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/dtype.hpp>
#include <steno/core/extents.hpp>
#include <steno/weights/mapped_file.hpp>

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

struct stored_tensor {
  std::string name;
  std::vector<extent> shape = {};         ///< row-major, outermost first; every extent positive
  dtype stored = dtype::f32;              ///< f32 also for what GGUF has no format for
  std::span<const std::byte> bytes = {};  ///< in format `stored`, when the container can show them; else empty
  std::function<void(std::span<float>)> read = {};  ///< all values, row-major
  /// The same as `bytes` of containers that look at them first (a checksum); empty when it cannot show them after all.
  std::function<std::span<const std::byte>()> show = {};
  weights::mapped_file* file = nullptr;  ///< that these lie in, where it is known; the model's source owns it

  std::size_t count() const {
    std::size_t n = 1;
    for (const extent e : shape) n *= static_cast<std::size_t>(e);
    return n;
  }
};

}  // namespace STENO_ABI
}  // namespace steno

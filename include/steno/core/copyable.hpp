// steno/core/copyable.hpp - what streams keep can be copied.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <type_traits>

namespace steno {
inline namespace STENO_ABI {
namespace core {

/// A value that may be copied and assigned. `std::copyable` also looks at swapping, conversions and common references,
/// for which compilers instantiate a hundred templates for each state of each stage.
template <class T>
concept copyable = std::is_copy_constructible_v<T> && std::is_copy_assignable_v<T>;

}  // namespace core
}  // namespace STENO_ABI
}  // namespace steno

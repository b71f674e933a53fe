// steno/kernels/product/tables.hpp - the product kernels of each instruction set.
#pragma once
#include <steno/kernels/product/reference.hpp>

namespace steno::inline STENO_ABI::kernels::detail {

inline const product_table& table_of(isa) noexcept { return scalar::product_kernels; }

}  // namespace steno::inline STENO_ABI::kernels::detail

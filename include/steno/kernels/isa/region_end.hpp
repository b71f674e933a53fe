// steno/kernels/isa/region_end.hpp - ends what one of the region_*_begin.hpp files began.
// SPDX-License-Identifier: Apache-2.0
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

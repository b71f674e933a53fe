// steno/kernels/isa/region_i8mm_begin.hpp - functions from here to region_end.hpp are compiled for NEON with products
// of four int8 and of int8 matrices, beside whatever the compiler's flags allow.
//
// Architectures are named as in region_dotprod_begin.hpp.
//
// Included many times, between includes and namespaces: everything the region uses must have been included before.
// SPDX-License-Identifier: Apache-2.0
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod,i8mm"))), apply_to = function)
#elif STENO_PARTS_OF_ARMV8_2
#pragma GCC push_options
#pragma GCC target("+dotprod+i8mm")
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+crypto+dotprod+i8mm")
#endif

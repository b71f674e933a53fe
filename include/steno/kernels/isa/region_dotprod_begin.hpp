// steno/kernels/isa/region_dotprod_begin.hpp - functions from here to region_end.hpp are compiled for NEON with
// products of four int8, beside whatever the compiler's flags allow.
//
// The GNU assembler takes these products only with ARMv8.2. Naming an architecture takes away whatever else the flags
// allow, so it is named only where they allow no more than ARMv8.1 with cryptography.
//
// Included many times, between includes and namespaces: everything the region uses must have been included before.
// SPDX-License-Identifier: Apache-2.0
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("dotprod"))), apply_to = function)
#elif STENO_PARTS_OF_ARMV8_2
#pragma GCC push_options
#pragma GCC target("+dotprod")
#else
#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+crypto+dotprod")
#endif

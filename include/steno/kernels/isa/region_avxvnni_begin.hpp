// steno/kernels/isa/region_avxvnni_begin.hpp - functions from here to region_end.hpp are compiled for AVX2, FMA, F16C
// and AVX-VNNI: vpdpbusd of 256 bits, without AVX-512.
//
// Included many times, between includes and namespaces: everything the region uses must have been included before.
// SPDX-License-Identifier: Apache-2.0
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma,f16c,avxvnni"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avxvnni")
#endif

// steno/kernels/isa/region_amx_begin.hpp - functions from here to region_end.hpp are compiled for AVX-512 F, BW, VL,
// DQ, VNNI and VBMI, and AMX with tiles of bfloat16 and int8.
//
// Included many times, between includes and namespaces: everything the region uses must have been included before.
// SPDX-License-Identifier: Apache-2.0
#if defined(__clang__)
#pragma clang attribute push(                                                                                         \
    __attribute__((                                                                                                   \
        target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi,amx-tile,amx-bf16,amx-int8"))), \
    apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma,f16c,avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx512vbmi,amx-tile,amx-bf16,amx-int8")
#endif

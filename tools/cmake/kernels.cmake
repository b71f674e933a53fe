# steno::kernels, for projects of many units: the kernels are compiled once, in this static library, and in no unit that
# links it. Included by the source tree and by the installed package; STENO_INCLUDE_DIR is where the headers are.
# SPDX-License-Identifier: Apache-2.0
if(TARGET steno_kernels)
  return()
endif()
file(GLOB steno_kernel_headers RELATIVE ${STENO_INCLUDE_DIR} ${STENO_INCLUDE_DIR}/steno/kernels/*.hpp)
list(FILTER steno_kernel_headers EXCLUDE REGEX "_amx|bfloat_")  # others include them where the processor is theirs
list(TRANSFORM steno_kernel_headers REPLACE ".+" "#include <\\0>\n")
string(CONCAT steno_kernel_headers ${steno_kernel_headers})
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/steno_kernels.cpp CONTENT "${steno_kernel_headers}" @ONLY)
unset(steno_kernel_headers)

add_library(steno_kernels STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_BINARY_DIR}/steno_kernels.cpp)
add_library(steno::kernels ALIAS steno_kernels)
target_link_libraries(steno_kernels PUBLIC steno::steno)
target_compile_definitions(steno_kernels PUBLIC STENO_LINK_KERNELS PRIVATE STENO_BUILD_KERNELS)

# Install rules: headers, the CMake package `steno` and steno.pc. Nothing of it depends on the architecture.
# SPDX-License-Identifier: Apache-2.0
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(STENO_CMAKE_DIR ${CMAKE_INSTALL_DATADIR}/cmake/steno)

install(TARGETS steno steno_native EXPORT stenoTargets
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)
install(EXPORT stenoTargets NAMESPACE steno:: DESTINATION ${STENO_CMAKE_DIR} COMPONENT development)

configure_package_config_file(
  ${CMAKE_CURRENT_LIST_DIR}/stenoConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/stenoConfig.cmake
  INSTALL_DESTINATION ${STENO_CMAKE_DIR} NO_SET_AND_CHECK_MACRO PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/stenoConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/stenoConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/stenoConfigVersion.cmake
              ${CMAKE_CURRENT_LIST_DIR}/FindFFTW3f.cmake ${CMAKE_CURRENT_LIST_DIR}/kernels.cmake
              ${CMAKE_CURRENT_LIST_DIR}/pipelines.cmake
        DESTINATION ${STENO_CMAKE_DIR} COMPONENT development)

set(STENO_PC_REQUIRES "eigen3 >= 3.4")
set(STENO_PC_CFLAGS "")
if(ZLIB_FOUND)
  string(APPEND STENO_PC_REQUIRES ", zlib")
endif()
if(STENO_FFT STREQUAL fftw)
  string(APPEND STENO_PC_REQUIRES ", fftw3f")
  set(STENO_PC_CFLAGS " -DSTENO_FFT_FFTW")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/steno.pc.in ${CMAKE_CURRENT_BINARY_DIR}/steno.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/steno.pc DESTINATION ${CMAKE_INSTALL_DATADIR}/pkgconfig COMPONENT development)

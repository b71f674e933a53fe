# vcpkg port of the library: headers, and the CMake package that compiles steno::kernels and steno::pipelines in the
# project that links them. tools/make-archive fills in the version, the address and the hash of an archive.
# SPDX-License-Identifier: Apache-2.0
vcpkg_download_distfile(archive URLS "@URL@" FILENAME "steno-@VERSION@.tar.gz" SHA512 @SHA512@)
vcpkg_extract_source_archive(source ARCHIVE "${archive}")

set(VCPKG_BUILD_TYPE release)  # nothing is compiled
vcpkg_cmake_configure(
  SOURCE_PATH "${source}"
  OPTIONS
    -DSTENO_INSTALL=ON
    -DSTENO_BUILD_TESTS=OFF
    -DSTENO_BUILD_BENCH=OFF
    -DSTENO_BUILD_EXAMPLES=OFF
    -DSTENO_BUILD_TOOLS=OFF
    -DSTENO_BUILD_C=OFF
    -DSTENO_BUILD_PYTHON=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH share/cmake/steno)
vcpkg_fixup_pkgconfig()
vcpkg_install_copyright(FILE_LIST "${source}/LICENSE")

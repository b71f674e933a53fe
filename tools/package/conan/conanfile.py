# SPDX-License-Identifier: Apache-2.0
"""Conan 2 recipe of the library: headers, and the CMake package that compiles steno::kernels and steno::pipelines in
the project that links them. tools/make-archive puts it beside conandata.yml, which names the archive of one version."""
import os

from conan import ConanFile
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, get


class Steno(ConanFile):
    name = "steno"
    description = "Header-only C++20 library for speech recognition inference"
    license = "Apache-2.0"
    topics = ("speech-recognition", "asr", "header-only")
    package_type = "header-library"
    settings = "os", "arch", "compiler", "build_type"

    def layout(self):
        cmake_layout(self, src_folder="source")

    def requirements(self):
        self.requires("eigen/[>=3.4.0 <4]")
        self.requires("zlib/[>=1.2.11 <2]")  # Whisper's headers need it

    def package_id(self):
        self.info.clear()

    def validate(self):
        check_min_cppstd(self, 20)

    def source(self):
        get(self, **self.conan_data["sources"][self.version], strip_root=True)

    def generate(self):
        CMakeDeps(self).generate()
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "BENCH", "EXAMPLES", "TOOLS", "C", "PYTHON"):
            toolchain.cache_variables[f"STENO_BUILD_{part}"] = False
        toolchain.cache_variables["STENO_INSTALL"] = True
        toolchain.generate()

    def build(self):
        CMake(self).configure()

    def package(self):
        CMake(self).install(component="development")
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        self.cpp_info.set_property("cmake_find_mode", "none")  # the package's own stenoConfig.cmake
        self.cpp_info.builddirs = [os.path.join("share", "cmake", "steno")]

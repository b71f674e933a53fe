# One step of the install tests; see CMakeLists.txt for the variables.
# SPDX-License-Identifier: Apache-2.0
set(consumer_options -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}
                     -D CMAKE_BUILD_TYPE=Release)
set(ENV{CMAKE_PREFIX_PATH} "")
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGV} WORKING_DIRECTORY ${WORK} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

# Runs the consumer, which prints the version.
function(expect_version program)
  execute_process(COMMAND ${program} OUTPUT_VARIABLE printed OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  if(NOT printed STREQUAL "steno ${VERSION}")
    message(FATAL_ERROR "${program} printed `${printed}`")
  endif()
endfunction()

if(STEP STREQUAL install)
  file(REMOVE_RECURSE ${PREFIX})
  run(${CMAKE_COMMAND} --install ${BINARY} --prefix ${PREFIX} --component development)
elseif(STEP STREQUAL find_package)
  # Not optimised: what counts is that all of it compiles and links, and kernels and pipelines are large.
  run(${CMAKE_COMMAND} -S ${HERE}/find_package -B ${WORK} ${consumer_options} -D CMAKE_CXX_FLAGS_RELEASE=-O0
      -D CMAKE_PREFIX_PATH=${PREFIX})
  run(${CMAKE_COMMAND} --build ${WORK})
  expect_version(${WORK}/consumer)
  expect_version(${WORK}/front_door)
elseif(STEP STREQUAL add_subdirectory)
  run(${CMAKE_COMMAND} -S ${HERE}/add_subdirectory -B ${WORK} ${consumer_options} -D STENO_SOURCE=${SOURCE}
      -D STENO_FFT=${FFT} -D CMAKE_CXX_FLAGS_RELEASE=-O0)
  run(${CMAKE_COMMAND} --build ${WORK})
  expect_version(${WORK}/consumer)
elseif(STEP STREQUAL pkg_config)
  set(ENV{PKG_CONFIG_PATH} ${PREFIX}/share/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs steno OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${COMPILER} -std=c++20 -O1 ${HERE}/headers.cpp -o ${WORK}/consumer ${flags})
  expect_version(${WORK}/consumer)
elseif(STEP STREQUAL fetch_content)
  # The same bytes from a clone.
  set(clone ${WORK}/clone)
  run(git clone --quiet --shared ${SOURCE} ${clone})
  run(${SOURCE}/tools/make-archive ${WORK})
  run(${clone}/tools/make-archive ${clone}/out)
  foreach(kind spdx.json tar.gz)
    file(SHA256 ${WORK}/steno-${VERSION}.${kind} hash)
    file(SHA256 ${clone}/out/steno-${VERSION}.${kind} again)
    if(NOT hash STREQUAL again)
      message(FATAL_ERROR "the ${kind} of a clone has other bytes")
    endif()
  endforeach()
  # The recipe and the port beside it name this archive.
  set(archive ${WORK}/steno-${VERSION}.tar.gz)
  file(SHA512 ${archive} long_hash)
  foreach(named conan/conandata.yml:${hash} conan/conandata.yml:${VERSION} vcpkg/steno/portfile.cmake:${long_hash}
          vcpkg/steno/vcpkg.json:${VERSION})
    string(REGEX MATCH "^([^:]+):(.+)$" _ ${named})
    file(READ ${WORK}/steno-${VERSION}-recipes/${CMAKE_MATCH_1} text)
    set(value ${CMAKE_MATCH_2})
    string(FIND "${text}" ${value} at)
    string(REGEX MATCH "@[A-Z0-9]+@" left "${text}")
    if(at EQUAL -1 OR left)
      message(FATAL_ERROR "${named} is not in its file, or ${left} is left there")
    endif()
    string(FIND "${text}" "file://${archive}" at)
    if(at EQUAL -1 AND NOT named MATCHES json)
      message(FATAL_ERROR "the address of the archive is not in ${named}")
    endif()
  endforeach()
  run(${CMAKE_COMMAND} -S ${HERE}/fetch_content -B ${WORK}/build ${consumer_options} -D STENO_FFT=${FFT}
      -D CMAKE_CXX_FLAGS_RELEASE=-O0 -D STENO_ARCHIVE=${WORK}/steno-${VERSION}.tar.gz -D STENO_HASH=${hash})
  run(${CMAKE_COMMAND} --build ${WORK}/build)
  expect_version(${WORK}/build/consumer)
  file(REMOVE_RECURSE ${WORK})
elseif(STEP STREQUAL git_submodule)
  run(git init --quiet project)
  run(git -C project -c protocol.file.allow=always submodule --quiet add ${SOURCE} steno)
  # What it builds is what add_subdirectory builds.
  run(${CMAKE_COMMAND} -S ${HERE}/add_subdirectory -B ${WORK}/build ${consumer_options} -D STENO_FFT=${FFT}
      -D STENO_SOURCE=${WORK}/project/steno)
  file(REMOVE_RECURSE ${WORK})
else()
  message(FATAL_ERROR "no step `${STEP}`")
endif()

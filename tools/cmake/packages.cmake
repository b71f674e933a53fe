# Debian packages by CPack: `cpack -G DEB --config build/CPackConfig.cmake -B OUT`, or tools/make-packages.
#   steno          the programs, with manual pages and shell completions
#   steno-models   the demo models
#   steno-dev      the headers, the CMake package and steno.pc
#   libsteno0      the C interface
#   libsteno-dev   what programs link with it by
# SPDX-License-Identifier: Apache-2.0
find_program(STENO_GZIP gzip)
mark_as_advanced(STENO_GZIP)
set(packages_of_programs steno)
set(packages_of_models steno-models)
set(packages_of_c libsteno0)
set(packages_of_c_development libsteno-dev)
set(packages_of_development steno-dev)
set(components development)
if(TARGET steno-program AND TARGET steno-convert)
  list(APPEND components programs models)
endif()
if(TARGET steno_c)
  list(APPEND components c c_development)
  file(RELATIVE_PATH STENO_PC_INCLUDEDIR "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/${CMAKE_INSTALL_INCLUDEDIR}")
  configure_file(${CMAKE_CURRENT_LIST_DIR}/libsteno.pc.in ${PROJECT_BINARY_DIR}/libsteno.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/libsteno.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT c_development)
endif()

# What the programs say about themselves, for man(1) and for shells.
if(TARGET steno-program AND STENO_GZIP AND NOT CMAKE_CROSSCOMPILING)
  set(help ${PROJECT_BINARY_DIR}/help)
  add_custom_command(
    OUTPUT ${help}/made
    COMMAND ${CMAKE_COMMAND} -D STENO=$<TARGET_FILE:steno-program> -D GZIP=${STENO_GZIP} -D OUT=${help}
            -P ${PROJECT_SOURCE_DIR}/tools/package/help.cmake
    DEPENDS steno-program ${PROJECT_SOURCE_DIR}/tools/package/help.cmake
    COMMENT "Writing manual pages and completions"
    VERBATIM)
  add_custom_target(steno_help ALL DEPENDS ${help}/made)
  install(DIRECTORY ${help}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT programs)
  install(FILES ${help}/steno DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT programs)
  install(FILES ${help}/_steno DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT programs)
  install(FILES ${help}/steno.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT programs)
endif()

# changelog.gz is for people, the other one is Debian's: of when this was packaged, or SOURCE_DATE_EPOCH.
set(contact "The maintainers of steno <maintainers@steno.example>")
set(changelogs "")
if(STENO_GZIP)
  string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  file(WRITE ${PROJECT_BINARY_DIR}/changelog "steno (${PROJECT_VERSION}-1) unstable; urgency=medium

  * steno ${PROJECT_VERSION}: see changelog.gz.

 -- ${contact}  ${date}
")
  execute_process(COMMAND ${STENO_GZIP} -9nc ${PROJECT_BINARY_DIR}/changelog
                  OUTPUT_FILE ${PROJECT_BINARY_DIR}/changelog.Debian.gz COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ${STENO_GZIP} -9nc ${PROJECT_SOURCE_DIR}/docs/changelog.md
                  OUTPUT_FILE ${PROJECT_BINARY_DIR}/changelog.gz COMMAND_ERROR_IS_FATAL ANY)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS docs/changelog.md)
  list(APPEND changelogs ${PROJECT_BINARY_DIR}/changelog.gz ${PROJECT_BINARY_DIR}/changelog.Debian.gz)
endif()
foreach(component ${components})
  set(folder ${CMAKE_INSTALL_DATADIR}/doc/${packages_of_${component}})
  install(FILES ${PROJECT_SOURCE_DIR}/tools/package/copyright ${changelogs}
          DESTINATION ${folder} COMPONENT ${component})
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${packages_of_${component}})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME steno)
set(CPACK_PACKAGE_VENDOR steno)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_CONTACT ${contact})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY =)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(same "(= ${PROJECT_VERSION}-1)")

set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_SECTION sound)
set(CPACK_DEBIAN_PROGRAMS_PACKAGE_RECOMMENDS "ffmpeg, steno-models ${same}")
set(CPACK_COMPONENT_PROGRAMS_DESCRIPTION "Speech recognition at the command line
Transcribes, streams, diarizes and aligns recordings on the CPU, writes text,
subtitles and JSON, and serves clients over HTTP. Contains steno,
steno-convert, which packages published models, and steno-trace.")

set(CPACK_DEBIAN_MODELS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_MODELS_PACKAGE_SECTION sound)
set(CPACK_COMPONENT_MODELS_DESCRIPTION "Small demonstration models for steno
They know about 190 words of synthetic speech and show that everything works,
not what published models do.")

set(CPACK_DEBIAN_C_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_C_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_C_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/tools/package/triggers)
set(CPACK_COMPONENT_C_DESCRIPTION "Speech recognition on the CPU (shared library)
The C interface of steno: models, recordings, live streams, words with times,
speakers, forced alignment and punctuation.")

set(CPACK_DEBIAN_C_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_C_DEVELOPMENT_PACKAGE_DEPENDS "libsteno0 ${same}, steno-dev ${same}")
set(CPACK_COMPONENT_C_DEVELOPMENT_DESCRIPTION "Speech recognition on the CPU (for programs in C)
What programs link with libsteno by. Its header, steno/steno.h, is in
steno-dev.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libeigen3-dev (>= 3.4), zlib1g-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Speech recognition on the CPU (C++ headers)
steno is a header-only C++20 library; the package has its headers, its CMake
package and its pkg-config file.")
include(CPack)

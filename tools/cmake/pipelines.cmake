# steno::pipelines: the closed classes (transcriber, any_session, any_vad, diarizer, ...) compiled once, a unit for each
# family, on top of steno::kernels. Included by the source tree and by the installed package; STENO_INCLUDE_DIR is where
# the headers are.
# SPDX-License-Identifier: Apache-2.0
if(TARGET steno_pipelines)
  return()
endif()
set(steno_pipeline_units "")
set(steno_pipeline_openers "")  # behind the families: they include their headers, without the bodies
file(GLOB steno_pipeline_headers RELATIVE ${STENO_INCLUDE_DIR} ${STENO_INCLUDE_DIR}/steno/pipelines/*.hpp)
foreach(header ${steno_pipeline_headers})
  get_filename_component(unit ${header} NAME_WE)
  file(STRINGS ${STENO_INCLUDE_DIR}/${header} steno_of_a_family REGEX "defined.STENO_BUILD_PIPELINES" LIMIT_COUNT 1)
  set(steno_content "#include <${header}>\n")
  if(steno_of_a_family)  # its own unit
    string(PREPEND steno_content "#include <steno/pipelines/loaded_model.hpp>\n#define STENO_BUILD_PIPELINES\n")
    string(APPEND steno_content "#undef STENO_BUILD_PIPELINES\n")
  elseif(NOT unit MATCHES "^open_")  # the bodies of a closed class
    continue()
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/steno_pipelines/${unit}.cpp CONTENT "${steno_content}" @ONLY)
  if(steno_of_a_family)
    list(APPEND steno_pipeline_units ${CMAKE_CURRENT_BINARY_DIR}/steno_pipelines/${unit}.cpp)
  else()
    list(APPEND steno_pipeline_openers ${CMAKE_CURRENT_BINARY_DIR}/steno_pipelines/${unit}.cpp)
  endif()
endforeach()
list(APPEND steno_pipeline_units ${steno_pipeline_openers})
unset(steno_pipeline_openers)
add_library(steno_pipelines STATIC EXCLUDE_FROM_ALL ${steno_pipeline_units})
# What they have in common is compiled once in each of two units, at 1.7 GB a unit. Families of relatives stand
# together, here those with conformers and CTC: the two units have a seventh less code than three in alphabetical order.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set_target_properties(steno_pipelines PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set_source_files_properties(${steno_pipeline_units} PROPERTIES UNITY_GROUP others)
  list(FILTER steno_pipeline_units INCLUDE REGEX "/(canary|open_diarizer|open_vad|parakeet|sense_voice|u2)\\.cpp$")
  set_source_files_properties(${steno_pipeline_units} PROPERTIES UNITY_GROUP conformers)
endif()
unset(steno_pipeline_units)
unset(steno_pipeline_headers)
unset(steno_of_a_family)
unset(steno_content)
add_library(steno::pipelines ALIAS steno_pipelines)
target_link_libraries(steno_pipelines PUBLIC steno_kernels)
target_compile_definitions(steno_pipelines PUBLIC STENO_LINK_PIPELINES)

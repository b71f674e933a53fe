# No line of a document or a source is longer than 120 characters. Addresses behind `[name]: ` in Markdown are left
# alone, and so are JSON, what CMake fills in (*.in) and the data of tests.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)

file(GLOB files LIST_DIRECTORIES false RELATIVE ${ROOT} ${ROOT}/*)
foreach(folder .ci .github bench docs examples include tests tools)
  file(GLOB_RECURSE more RELATIVE ${ROOT} ${ROOT}/${folder}/*)
  list(APPEND files ${more})
endforeach()
list(FILTER files EXCLUDE REGEX "^tests/(golden/.*[.]yaml|fuzz/corpus/.*|convert/fixtures/.*)$")
list(FILTER files EXCLUDE REGEX "(^|/)(node_modules|build[^/]*)/")
list(FILTER files INCLUDE REGEX
     "(^|/)(CMakeLists[.]txt|[^/.]+|[^/]+[.](md|py|sh|cmake|mjs|js|ts|html|ya?ml|cpp|hpp|inl|c|h))$")
set(found "")
foreach(file ${files})
  if(file MATCHES "(^|/)[^/.]+$")
    file(READ ${ROOT}/${file} begin LIMIT 2)
    if(NOT begin MATCHES "^#!")  # no script
      continue()
    endif()
  endif()
  file(STRINGS ${ROOT}/${file} long LENGTH_MINIMUM 121 ENCODING UTF-8)  # in bytes
  if(long STREQUAL "")
    continue()
  endif()
  file(READ ${ROOT}/${file} text)
  string(REGEX REPLACE "[;[\\]|]" "." text "${text}")  # what has a meaning in lists
  string(REPLACE "\n" ";" text "${text}")
  set(number 0)
  foreach(line IN LISTS text)
    math(EXPR number "${number} + 1")
    string(REGEX REPLACE "[^ -~]+" "." line "${line}")  # a run of other characters counts as one
    string(LENGTH "${line}" length)
    if(length GREATER 120 AND NOT (file MATCHES "[.]md$" AND line MATCHES "^[.][a-z0-9-]+[.]: http"))
      string(APPEND found "  ${file}:${number}: ${length} characters\n")
    endif()
  endforeach()
endforeach()
if(NOT found STREQUAL "")
  message(FATAL_ERROR "Lines of more than 120 characters:\n${found}")
endif()

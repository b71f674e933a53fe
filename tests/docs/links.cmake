# Every link of a Markdown file to another file of the project leads to one, and every reference has a definition.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE pages ${ROOT}/docs/*.md ${ROOT}/.github/*.md ${ROOT}/examples/*.md ${ROOT}/tools/*.md
     ${ROOT}/tests/*.md)
list(FILTER pages EXCLUDE REGEX "/node_modules/")  # of packages that tests need
foreach(page ${ROOT}/README.md ${pages})
  file(READ ${page} text)
  cmake_path(GET page PARENT_PATH folder)
  string(REGEX REPLACE "```[^`]*```" "" text "${text}")  # samples of code
  string(REGEX REPLACE "`[^`]*`" "" text "${text}")
  string(REPLACE ";" " " text "${text}")
  string(REPLACE "](" "\nLINK " text "${text}")
  string(REPLACE "][" "\nREFERENCE " text "${text}")
  string(REGEX MATCHALL "\nLINK [^) \n]+" links "${text}")
  foreach(link ${links})
    string(REGEX REPLACE "^\nLINK ([^#]*).*" "\\1" target "${link}")
    if(target STREQUAL "" OR target MATCHES "^https?://")
      continue()
    endif()
    if(NOT EXISTS ${folder}/${target})
      message(SEND_ERROR "${page}: no such file: ${target}")
    endif()
  endforeach()
  string(REGEX MATCHALL "\nREFERENCE [a-z0-9-]+" references "${text}")
  foreach(reference ${references})
    string(REGEX REPLACE "^\nREFERENCE " "" name "${reference}")
    string(FIND "${text}" "[${name}]: http" at)
    if(at EQUAL -1)
      message(SEND_ERROR "${page}: nothing defines the reference [${name}]")
    endif()
  endforeach()
endforeach()

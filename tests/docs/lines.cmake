# No line of a Markdown file is longer than 120 characters; addresses behind `[name]: ` are left alone.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)

file(GLOB_RECURSE pages ${ROOT}/docs/*.md ${ROOT}/.github/*.md ${ROOT}/examples/*.md ${ROOT}/tools/*.md ${ROOT}/tests/*.md)
list(FILTER pages EXCLUDE REGEX "/node_modules/")  # of packages that tests need
foreach(page ${ROOT}/README.md ${pages})
  file(READ ${page} text)
  string(REGEX REPLACE "[;[\\]|]" "." text "${text}")  # what has a meaning in lists
  string(REGEX MATCHALL "[^\n]+" lines "${text}")
  foreach(line ${lines})
    string(LENGTH "${line}" bytes)
    if(bytes LESS_EQUAL 120 OR line MATCHES "^[.][a-z0-9-]+[.]: http")
      continue()
    endif()
    string(REGEX REPLACE "[^ -~]+" "." line "${line}")  # a run of other characters counts as one
    string(LENGTH "${line}" length)
    if(length GREATER 120)
      message(SEND_ERROR "${page}: ${length} characters: ${line}")
    endif()
  endforeach()
endforeach()

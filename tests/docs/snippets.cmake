# Every block of C++ in README.md stands in one of examples/*.cpp, between lines `// README begins` and
# `// README ends`; those of docs/library.md stand between `// library begins` and `// library ends`. Several pieces of
# a program are one block; indentation and empty lines do not count.
# SPDX-License-Identifier: Apache-2.0
cmake_minimum_required(VERSION 3.25)

# Lines without indentation, none of them empty, each with a line break before and behind.
function(plain text out)
  string(REGEX REPLACE "\n[ \t]+" "\n" text "\n${text}\n")
  string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# All that stands between `begin` and `end`, each piece of it added to the list of lines `out`_1, _2, ...; `out` is
# their number.
function(between text begin end out)
  set(count 0)
  while(TRUE)
    string(FIND "${text}" "${begin}" at)
    if(at EQUAL -1)
      break()
    endif()
    string(LENGTH "${begin}" skip)
    math(EXPR at "${at} + ${skip}")
    string(SUBSTRING "${text}" ${at} -1 text)
    string(FIND "${text}" "${end}" length)
    string(SUBSTRING "${text}" 0 ${length} piece)
    math(EXPR count "${count} + 1")
    set(${out}_${count} "${piece}" PARENT_SCOPE)
  endwhile()
  set(${out} ${count} PARENT_SCOPE)
endfunction()

file(GLOB programs ${ROOT}/examples/*.cpp)
set(failures 0)
foreach(page README docs/library)
  get_filename_component(marker ${page} NAME)
  set(all "")  # of every program
  foreach(program ${programs})
    file(READ ${program} text)
    between("${text}" "// ${marker} begins\n" "// ${marker} ends" piece)
    set(joined "")
    if(piece GREATER 0)
      foreach(i RANGE 1 ${piece})
        string(APPEND joined "${piece_${i}}\n")
      endforeach()
    endif()
    plain("${joined}" joined)
    string(APPEND all "${joined}//////\n")
  endforeach()

  file(READ ${ROOT}/${page}.md text)
  between("${text}" "```cpp\n" "\n```" block)
  if(block LESS 3)
    message(SEND_ERROR "${page}.md: ${block} blocks of C++, expected three or more")
  endif()
  foreach(i RANGE 1 ${block})
    plain("${block_${i}}" wanted)
    string(FIND "${all}" "${wanted}" at)
    if(at EQUAL -1)
      message(SEND_ERROR "${page}.md: this block stands in no program of examples/:\n${block_${i}}")
    endif()
  endforeach()
endforeach()

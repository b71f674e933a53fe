# Manual pages and completions of the program STENO into the folder OUT, pages compressed by GZIP. `made` is written
# when all of it is there.
# SPDX-License-Identifier: Apache-2.0
function(say out)
  # A file that is called help would be taken for a recording.
  execute_process(COMMAND ${STENO} help ${ARGN} WORKING_DIRECTORY ${OUT} OUTPUT_FILE ${out} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${OUT})
file(MAKE_DIRECTORY ${OUT}/man1)
say(${OUT}/man1/steno.1 man)
file(READ ${OUT}/man1/steno.1 page)
string(REGEX MATCHALL "steno\\\\-[a-z]+\\(1\\)" verbs "${page}")
list(REMOVE_DUPLICATES verbs)
if(NOT verbs)
  message(FATAL_ERROR "steno(1) names no page of a verb")
endif()
foreach(verb ${verbs})
  string(REGEX REPLACE "steno\\\\-([a-z]+).*" "\\1" verb "${verb}")
  say(${OUT}/man1/steno-${verb}.1 man ${verb})
endforeach()
say(${OUT}/steno completion bash)
say(${OUT}/_steno completion zsh)
say(${OUT}/steno.fish completion fish)
file(COPY ${CMAKE_CURRENT_LIST_DIR}/steno-convert.1 ${CMAKE_CURRENT_LIST_DIR}/steno-trace.1 DESTINATION ${OUT}/man1)
file(GLOB pages ${OUT}/man1/*.1)
execute_process(COMMAND ${GZIP} -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(TOUCH ${OUT}/made)

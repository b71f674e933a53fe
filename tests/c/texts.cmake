# PROGRAM writes what stands in texts.txt.
# SPDX-License-Identifier: Apache-2.0
execute_process(COMMAND ${PROGRAM} ${FOLDER}/examples ${FOLDER}/tests/golden OUTPUT_VARIABLE written
                COMMAND_ERROR_IS_FATAL ANY)
file(READ ${FOLDER}/tests/c/texts.txt wanted)
if(NOT written STREQUAL wanted)
  message(FATAL_ERROR "written:\n${written}\nexpected:\n${wanted}")
endif()

# cmake -DPROGRAM=.. -DARGUMENTS=a;b -DFOLDER=.. -DGOLDEN=file -P check_golden.cmake
# Runs a program in FOLDER and compares what it writes with a file. To renew a file: run the command
# by hand and look at the difference.
execute_process(COMMAND ${PROGRAM} ${ARGUMENTS} WORKING_DIRECTORY ${FOLDER}
  OUTPUT_VARIABLE actual ERROR_VARIABLE errors RESULT_VARIABLE status)
file(READ ${FOLDER}/${GOLDEN} expected)
if(NOT status EQUAL 0 OR NOT errors STREQUAL "" OR NOT actual STREQUAL expected)
  message(FATAL_ERROR "status ${status}\n${errors}\nexpected ${GOLDEN}:\n${expected}\ngot:\n${actual}")
endif()

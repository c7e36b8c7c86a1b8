# cmake -DSOURCE=.. -DHEADER=.. -P build_commit.cmake: writes the git commit that is built into a
# header; none where SOURCE is no repository of its own, as in a release's archive. On every build,
# so that it cannot be an old one; the header changes only with the commit.
find_program(git git)
set(commit "")
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-toplevel
    OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
  file(REAL_PATH ${SOURCE} source)
  if(status EQUAL 0 AND top STREQUAL source)
    execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --short=12 HEAD
      OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
set(text "#pragma once\n#define LANEWISE_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${HEADER} "${text}")
endif()

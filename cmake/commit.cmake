# Writes HEADER with the commit that is built, if it has changed:
#   cmake -DHEADER=... -DSOURCE=... -DCOMMIT=... -P cmake/commit.cmake
# COMMIT is for sources without git; else git knows, and says whether files differ
# from the commit.
if(NOT COMMIT)
  execute_process(
    COMMAND git -C ${SOURCE} describe --always --dirty=+ --abbrev=12 --exclude=*
    OUTPUT_VARIABLE COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
    RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT COMMIT)
    set(COMMIT unknown)
  endif()
endif()
set(text "// Made by cmake/commit.cmake.\n#define DOGGED_COMMIT \"${COMMIT}\"\n")
if(EXISTS ${HEADER})
  file(READ ${HEADER} before)
endif()
if(NOT "${before}" STREQUAL "${text}")
  file(WRITE ${HEADER} "${text}")
endif()

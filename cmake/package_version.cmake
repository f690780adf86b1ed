# The version of the Debian packages: that of the project, and until it is
# released the time and the commit behind it, so that apt takes a later one for an
# upgrade. CPack reads this before it packs.
execute_process(
  COMMAND git -C ${CPACK_DOGGED_SOURCE} describe --exact-match --match v* HEAD
  OUTPUT_QUIET ERROR_QUIET RESULT_VARIABLE is_unreleased)
execute_process(
  COMMAND git -C ${CPACK_DOGGED_SOURCE} log -1 --abbrev=12
    --format=%cd.%h --date=format-local:%Y%m%d%H%M%S
  OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
  RESULT_VARIABLE no_git)
if(is_unreleased AND NOT no_git)
  string(APPEND CPACK_PACKAGE_VERSION "~git${commit}")
endif()

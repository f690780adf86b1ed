# Debian's libfabric needs libraries for InfiniPath and Omni-Path cards. As each
# of them is loaded it sleeps for 0.1 s to calibrate a clock, and takes over
# signals. Libraries of the same names, in which every call fails, are
# loaded before them: an agent starts in half the time. Its messages go by
# TCP (ADR-21).
find_library(FABRIC_FILE NAMES fabric HINTS ${LIBFABRIC_LIBRARY_DIRS} REQUIRED)
execute_process(COMMAND ${CMAKE_NM} -D --undefined-only ${FABRIC_FILE}
  OUTPUT_VARIABLE FABRIC_NEEDS COMMAND_ERROR_IS_FATAL ANY)

# Adds library NAME, of that SOVERSION, with what libfabric needs of PREFIX.
function(add_refusing_library NAME SOVERSION PREFIX)
  string(REGEX MATCHALL "${PREFIX}_[a-z0-9_]+" SYMBOLS "${FABRIC_NEEDS}")
  if(NOT SYMBOLS)
    return()
  endif()
  set(CODE "/* Made by routing/fabric/refusing_libraries.cmake. */\n")
  foreach(SYMBOL IN LISTS SYMBOLS)
    string(APPEND CODE "int ${SYMBOL}(void);\n"
                       "int ${SYMBOL}(void) { return 1; }\n")
  endforeach()
  set(FILE ${CMAKE_CURRENT_BINARY_DIR}/${NAME})
  file(CONFIGURE OUTPUT ${FILE}.c CONTENT "${CODE}" @ONLY)
  add_library(${NAME} SHARED ${FILE}.c)
  set_target_properties(${NAME} PROPERTIES
    SOVERSION ${SOVERSION} LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  # "psm2_init@PSM2_1.0" has a version.
  if(FABRIC_NEEDS MATCHES "${PREFIX}_[a-z0-9_]+@+([A-Z0-9_.]+)")
    file(CONFIGURE OUTPUT ${FILE}.map
      CONTENT "${CMAKE_MATCH_1} { global: ${PREFIX}_*; };\n" @ONLY)
    target_link_options(${NAME} PRIVATE
      LINKER:--version-script=${FILE}.map)
  endif()
  target_link_libraries(dogged_fabric PRIVATE ${NAME})
  set_property(GLOBAL APPEND PROPERTY DOGGED_MODULES ${NAME})
endfunction()

add_refusing_library(psm_infinipath 1 psm)
add_refusing_library(psm2 2 psm2)
target_link_options(dogged_fabric PRIVATE LINKER:--no-as-needed)
set_target_properties(dogged_fabric PROPERTIES
  BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN")

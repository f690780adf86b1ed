# Options and the functions that every package uses. See docs/HACKING.md.

set(DOGGED_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=...")
option(DOGGED_WERROR "Warnings are errors" OFF)
option(DOGGED_TESTS "Build the tests; their packages: scripts/setup test" ON)

find_program(DOGGED_CCACHE ccache)
if(DOGGED_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DOGGED_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${DOGGED_CCACHE})
endif()

if(DOGGED_SANITIZE)
  add_compile_options(-fsanitize=${DOGGED_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${DOGGED_SANITIZE})
endif()

# Bits must not depend on which expression the compiler fuses.
add_compile_options(-ffp-contract=off)

add_library(dogged_options INTERFACE)
target_include_directories(dogged_options INTERFACE ${PROJECT_SOURCE_DIR})
target_compile_options(dogged_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
  # Designated initializers leave out what keeps its default.
  -Wno-missing-field-initializers
  # The compiler's own false alarms under sanitizers and -O3 (gcc 12).
  -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-restrict)
if(DOGGED_WERROR)
  target_compile_options(dogged_options INTERFACE -Werror)
endif()

# dogged_library(NAME routing HDRS a.h SRCS a.cc DEPS dogged::base absl::status)
# makes target dogged_NAME with alias dogged::NAME. DEPS are public.
function(dogged_library)
  cmake_parse_arguments(ARG "" "NAME" "HDRS;SRCS;DEPS" ${ARGN})
  set(target dogged_${ARG_NAME})
  add_library(${target} STATIC ${ARG_SRCS})
  add_library(dogged::${ARG_NAME} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HDRS})
  target_link_libraries(${target} PUBLIC ${ARG_DEPS} dogged_options)
endfunction()

# The code of `target` begins at a multiple of a huge page, with nothing else in
# its last one: apps/dogged/process/huge_page_code.h moves it there.
function(dogged_align_text target)
  target_link_options(${target} PRIVATE
    -Wl,-z,separate-code -Wl,-z,max-page-size=0x200000)
endfunction()

# Tests that take longer hang. Sanitizers make them slower.
function(dogged_time_limit seconds)
  if(DOGGED_SANITIZE)
    math(EXPR seconds "10 * ${seconds}")
  endif()
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${seconds})
endfunction()

# dogged_test(NAME kvstore.shard SRCS shard_test.cc DEPS dogged::kvstore)
# makes one GoogleTest program and one ctest entry of that name.
function(dogged_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SRCS;DEPS" ${ARGN})
  string(REPLACE "." "_" target ${ARG_NAME}_test)
  add_executable(${target} ${ARG_SRCS})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} GTest::gmock_main)
  add_test(NAME ${ARG_NAME} COMMAND ${target})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  dogged_time_limit(${ARG_TIMEOUT} ${ARG_NAME})
endfunction()

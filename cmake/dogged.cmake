# Options and the functions that every package uses. See docs/HACKING.md.

set(DOGGED_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=...")
option(DOGGED_WERROR "Warnings are errors" OFF)
option(DOGGED_TESTS "Build the tests; their packages: scripts/setup test" ON)
option(DOGGED_PCH "Precompile the outside headers that most units include" ON)
option(DOGGED_UNITY "Compile the sources of a library together, many at a time" OFF)

find_program(DOGGED_CCACHE ccache)
if(DOGGED_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${DOGGED_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${DOGGED_CCACHE})
  if(DOGGED_PCH)
    # Without these ccache passes on every unit that uses a precompiled header.
    set(CMAKE_CXX_COMPILER_LAUNCHER env
      CCACHE_SLOPPINESS=pch_defines,time_macros ${DOGGED_CCACHE})
  endif()
endif()

if(DOGGED_SANITIZE)
  # Abseil's own library is not sanitized: its tables would have another layout.
  add_compile_options(-fsanitize=${DOGGED_SANITIZE} -fno-omit-frame-pointer
    -DNDEBUG_SANITIZER)
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
  # The compiler's own false alarms under sanitizers and -O3 (gcc 12), the last two
  # in std::string where its header is precompiled.
  -Wno-maybe-uninitialized -Wno-stringop-overflow -Wno-array-bounds
  -Wno-restrict -Wno-stringop-overread)
if(DOGGED_WERROR)
  target_compile_options(dogged_options INTERFACE -Werror)
endif()

# Outside headers, precompiled once for libraries, once more for those of level 1,
# once for the command and once for tests: gcc takes them only with the flags that
# they were made with, and levels 2 and 3 are the same to it, level 1 is another
# (gcc 14). Units still include what they use, and compile with DOGGED_PCH=OFF.
set(DOGGED_PCH_HEADERS
  <algorithm> <array> <atomic> <compare> <cstdint> <deque> <functional> <map>
  <memory> <mutex> <optional> <set> <sstream> <string> <utility> <vector>
  <absl/container/flat_hash_map.h> <absl/container/flat_hash_set.h>
  <absl/container/inlined_vector.h> <absl/functional/function_ref.h>
  <absl/status/status.h> <absl/status/statusor.h> <absl/strings/str_cat.h>
  <absl/strings/string_view.h> <absl/time/time.h> <absl/types/span.h>)

# dogged_make_pch(NAME dogged_test_pch FLAGS -fPIE HEADERS <gtest/gtest.h>
# DEPS GTest::gtest) makes it, dogged_use_pch(TARGET dogged_test_pch) uses it.
function(dogged_make_pch)
  if(DOGGED_PCH)
    cmake_parse_arguments(ARG "" "NAME" "FLAGS;HEADERS;DEPS" ${ARGN})
    set(unit ${CMAKE_BINARY_DIR}/${ARG_NAME}.cc)
    file(CONFIGURE OUTPUT ${unit} CONTENT "")
    add_library(${ARG_NAME} OBJECT ${unit})
    set_target_properties(${ARG_NAME} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${ARG_NAME} PRIVATE ${ARG_FLAGS})
    target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} dogged_options)
    target_precompile_headers(${ARG_NAME} PRIVATE
      ${DOGGED_PCH_HEADERS} ${ARG_HEADERS})
  endif()
endfunction()

function(dogged_use_pch target name)
  if(DOGGED_PCH)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()

dogged_make_pch(NAME dogged_pch FLAGS -fPIC)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  dogged_make_pch(NAME dogged_pch_1 FLAGS -fPIC -O1)
endif()

# Much of the time of a unit goes to headers that its neighbours read as well.
# tests/lint/names.py keeps names of one source out of another.
function(dogged_use_unity target)
  if(DOGGED_UNITY)
    set_target_properties(${target} PROPERTIES
      UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
  endif()
endfunction()

# dogged_library(NAME routing HDRS a.h SRCS a.cc DEPS dogged::base absl::status)
# makes target dogged_NAME with alias dogged::NAME. DEPS are public. OPTIMIZE is the
# level of releases: 2 where it is not given, 1 for what runs once for a program (a
# third less to compile), 3 for loops over numbers and for what a process does for
# each task.
function(dogged_library)
  cmake_parse_arguments(ARG "" "NAME;OPTIMIZE" "HDRS;SRCS;DEPS" ${ARGN})
  if(NOT ARG_OPTIMIZE)
    set(ARG_OPTIMIZE 2)
  endif()
  set(target dogged_${ARG_NAME})
  add_library(${target} STATIC ${ARG_SRCS})
  add_library(dogged::${ARG_NAME} ALIAS ${target})
  target_sources(${target} PUBLIC FILE_SET HEADERS
    BASE_DIRS ${PROJECT_SOURCE_DIR} FILES ${ARG_HDRS})
  target_link_libraries(${target} PUBLIC ${ARG_DEPS} dogged_options)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${ARG_OPTIMIZE}>)
  if(ARG_OPTIMIZE EQUAL 1 AND CMAKE_BUILD_TYPE STREQUAL "Release")
    dogged_use_pch(${target} dogged_pch_1)
  else()
    dogged_use_pch(${target} dogged_pch)
  endif()
  dogged_use_unity(${target})
endfunction()

# The code of `target` begins at a multiple of a huge page, with nothing else in
# its last one: apps/dogged/process/huge_page_code.h moves it there.
function(dogged_align_text target)
  target_link_options(${target} PRIVATE
    -Wl,-z,separate-code -Wl,-z,max-page-size=0x200000)
endfunction()

# Tests that take longer hang. Sanitizers make them slower, and a test in no
# hurry (below) waits while others run.
function(dogged_time_limit seconds)
  if(DOGGED_SANITIZE)
    math(EXPR seconds "10 * ${seconds}")
  endif()
  if(DOGGED_TEST_LAUNCHER)
    math(EXPR seconds "5 * ${seconds}")
  endif()
  set_tests_properties(${ARGN} PROPERTIES TIMEOUT ${seconds})
endfunction()

# Tests of real processes wait more than they compute, and count on being heard
# in time: one at a time, from the start on, beside tests that compute.
function(dogged_process_tests)
  set_tests_properties(${ARGN} PROPERTIES RESOURCE_LOCK processes COST 1000)
endfunction()

# Tests that compute for long run in no hurry: they take what tests of real
# processes leave of the processors. A folder of them sets DOGGED_TEST_LAUNCHER
# to this.
find_program(DOGGED_NICE nice)
mark_as_advanced(DOGGED_NICE)
set(DOGGED_IN_NO_HURRY)
if(DOGGED_NICE)
  set(DOGGED_IN_NO_HURRY ${DOGGED_NICE} -n 19)
endif()

# Tests call what is optimised; their own code runs too briefly to be worth it.
set(DOGGED_TEST_OPTIONS $<$<CONFIG:Release>:-O1>)

# dogged_test(NAME kvstore.shard SRCS shard_test.cc DEPS dogged::kvstore)
# makes one GoogleTest program and one ctest entry of that name.
function(dogged_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SRCS;DEPS" ${ARGN})
  string(REPLACE "." "_" target ${ARG_NAME}_test)
  add_executable(${target} ${ARG_SRCS})
  set_target_properties(${target} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE ${ARG_DEPS} GTest::gmock_main)
  target_compile_options(${target} PRIVATE ${DOGGED_TEST_OPTIONS})
  dogged_use_pch(${target} dogged_test_pch)
  add_test(NAME ${ARG_NAME}
    COMMAND ${DOGGED_TEST_LAUNCHER} $<TARGET_FILE:${target}>)
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  dogged_time_limit(${ARG_TIMEOUT} ${ARG_NAME})
endfunction()

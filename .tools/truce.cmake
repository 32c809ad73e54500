# How every target of Truce is declared: language level, warnings, hardening, sanitizers, tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Several sources of a target are compiled as one, and the headers of the standard library are read
# once for all of them. Off where each source must show that it includes what it uses (preset clang).
# A batch is what a change of one source compiles again: seconds, not more.
option(TRUCE_UNITY "Compile several sources at once, with precompiled headers" ON)
set(CMAKE_UNITY_BUILD ${TRUCE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
# Nothing here becomes a shared library; libraries and programs share one precompiled header.
set(CMAKE_CXX_COMPILE_OPTIONS_PIC -fPIE)

include(CheckPIESupported)
check_pie_supported()

# What all of Truce's own code is compiled and linked with; third-party code is not.
add_library(truce_flags INTERFACE)
target_compile_options(
  truce_flags
  INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
    -Woverloaded-virtual -Wold-style-cast -Wformat=2 -Wimplicit-fallthrough -Wextra-semi
    -Wcast-align -Wundef -Wswitch-enum
    # Options structs are filled by designated initialisers; the rest keeps its defaults.
    -Wno-missing-field-initializers
    $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond;-Wduplicated-branches;-Wlogical-op;-Wuseless-cast>
    $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>
    # Of a source in a unity file g++ believes that it is a header.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${TRUCE_UNITY}>>:-Wno-subobject-linkage>
    $<$<BOOL:${TRUCE_WERROR}>:-Werror>
    # Of g++ 13 and 14, which see texts written beyond their end where std::string keeps them inside itself.
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-error=array-bounds;-Wno-error=stringop-overflow;-Wno-error=maybe-uninitialized;-Wno-error=restrict>
    # Memory for time: a batch is compiled without a search for garbage. And for ccache.
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=600000;-fpch-preprocess>
    -pthread -fno-omit-frame-pointer)
target_link_libraries(truce_flags INTERFACE Threads::Threads)

if(TRUCE_SANITIZE)
  target_compile_options(truce_flags INTERFACE -fsanitize=${TRUCE_SANITIZE}
                                               -fno-sanitize-recover=all)
  target_link_options(truce_flags INTERFACE -fsanitize=${TRUCE_SANITIZE})
  target_compile_definitions(truce_flags INTERFACE TRUCE_ASSERTIONS _GLIBCXX_ASSERTIONS)
else()
  target_compile_definitions(
    truce_flags INTERFACE $<$<CONFIG:Debug>:TRUCE_ASSERTIONS> $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
endif()
target_compile_options(truce_flags INTERFACE ${TRUCE_HARDENING} ${TRUCE_PREFIX_MAP})
target_link_options(truce_flags INTERFACE ${TRUCE_HARDENING_LINK})

if(TRUCE_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "TRUCE_FUZZ needs clang: libFuzzer is part of it")
  endif()
  target_compile_options(truce_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(truce_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

if(TRUCE_COVERAGE)
  target_compile_options(truce_flags INTERFACE --coverage)
  target_link_options(truce_flags INTERFACE --coverage)
endif()

# What nearly every source includes of the standard library, one header for all that are compiled with the
# same options. Not for clang: what it compiles with such a header ccache finds again in the same folder only.
function(truce_precompile target)
  if(NOT TRUCE_UNITY OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  string(MAKE_C_IDENTIFIER "truce_precompiled${ARGN}" shared)
  if(NOT TARGET ${shared})
    file(WRITE "${PROJECT_BINARY_DIR}/precompiled.cc" "")
    add_library(${shared} STATIC "${PROJECT_BINARY_DIR}/precompiled.cc")
    target_link_libraries(${shared} PRIVATE truce_flags)
    target_compile_options(${shared} PRIVATE ${ARGN})
    target_precompile_headers(
      ${shared}
      PRIVATE
      <algorithm> <array> <atomic> <charconv> <chrono> <condition_variable> <cstddef> <cstdint> <deque>
      <exception> <filesystem> <functional> <map> <memory> <mutex> <optional> <ostream> <set> <span>
      <string> <string_view> <system_error> <thread> <tuple> <unordered_map> <utility> <variant> <vector>)
  endif()
  target_compile_options(${target} PRIVATE ${ARGN})
  target_precompile_headers(${target} REUSE_FROM ${shared})
endfunction()

# Each `size` of the sources are one batch, called `name` and a number.
function(truce_group name size)
  set(number 0)
  foreach(source IN LISTS ARGN)
    math(EXPR batch "${number} / ${size}")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP ${name}_${batch})
    math(EXPR number "${number} + 1")
  endforeach()
endfunction()

# truce_library(<target> SOURCES a.cc HEADERS a.h LINK targets [PRIVATE_LINK third_party]
#               [BATCH n [ROWS b.cc]] [HOT])
#
# BATCH sources are compiled as one, in their order; fewer where they are long. ROWS: the sources that
# reach registry/ownership/rows.h, in batches of their own: a change of it leaves the others alone.
# HOT: what judges a review is compiled source by source; g++ inlines less in a batch (4 % more
# instructions a review).
#
# A static library, or an interface library when there are only headers. Headers are included from
# the root of the repository, and each must compile alone (target all_verify_interface_header_sets).
function(truce_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "HOT" "BATCH" "SOURCES;ROWS;HEADERS;LINK;PRIVATE_LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "truce_library(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES} ${arg_ROWS})
    # What the build writes is compiled by itself: nothing else waits for it.
    set(generated ${arg_SOURCES})
    list(FILTER generated INCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
    set_source_files_properties(${generated} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE truce_flags ${arg_PRIVATE_LINK})
    truce_precompile(${target})
    if(arg_ROWS)
      list(FILTER arg_SOURCES EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
      set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
      truce_group(sources ${arg_BATCH} ${arg_SOURCES})
      truce_group(rows ${arg_BATCH} ${arg_ROWS})
    elseif(arg_BATCH)
      set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${arg_BATCH})
    endif()
    if(arg_HOT AND CMAKE_BUILD_TYPE STREQUAL "Release")
      set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES
                                    ${arg_HEADERS})
  target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}")
  target_compile_features(${target} ${scope} cxx_std_20)
  target_link_libraries(${target} ${scope} ${arg_LINK})
  set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
endfunction()

# truce_executable(<name> SOURCES main.cc LINK targets): a program in the root of the build folder.
function(truce_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "truce_executable(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_LINK} truce_flags)
  truce_precompile(${name})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
endfunction()

# One target per kind of test; truce_sanitized_tests are those that the sanitizer builds need.
set(TRUCE_TEST_LABELS unit contract model golden fault fuzz)
foreach(label IN LISTS TRUCE_TEST_LABELS)
  add_custom_target(truce_${label}_tests)
endforeach()
add_custom_target(truce_sanitized_tests)
add_dependencies(truce_sanitized_tests truce_unit_tests truce_contract_tests truce_model_tests
                 truce_fault_tests truce_fuzz_tests)

# truce_test(<name> LABEL unit|contract|model|golden|fault SOURCES x_test.cc LINK targets [BATCH n]
#            [TOGETHER pattern])
#
# A GoogleTest program; each of its cases is one ctest entry "<name>.<case>" and runs in a process of
# its own (but for sanitizers, see run_cases.py). The names of each source stand in a namespace of its
# own, called as the file. Cases that match TOGETHER share what is costly to start: they are two entries,
# "<name>.together.0" and ".1", because they wait half of their time.
function(truce_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT;BATCH;TOGETHER" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "truce_test(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LABEL IN_LIST TRUCE_TEST_LABELS)
    message(FATAL_ERROR "truce_test(${name}): LABEL must be one of ${TRUCE_TEST_LABELS}")
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE TRUCE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_LINK} truce_flags GTest::gtest GTest::gtest_main)
  # What only expects is not made fast: it compiles in two thirds of the time.
  set(optimised "")
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT arg_LABEL STREQUAL "model")
    set(optimised -O1)
  endif()
  truce_precompile(${name} ${optimised})
  if(arg_BATCH)
    set_target_properties(${name} PROPERTIES UNITY_BUILD_BATCH_SIZE ${arg_BATCH})
  endif()
  set(alone "")
  if(arg_TOGETHER)
    set(alone TEST_FILTER "-${arg_TOGETHER}")
    foreach(half 0 1)
      add_test(
        NAME ${name}.together.${half}
        COMMAND ${CMAKE_COMMAND} -E env GTEST_TOTAL_SHARDS=2 GTEST_SHARD_INDEX=${half}
                $<TARGET_FILE:${name}> "--gtest_filter=${arg_TOGETHER}"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
      set_tests_properties(${name}.together.${half} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
    endforeach()
  endif()
  gtest_discover_tests(
    ${name}
    ${alone}
    TEST_PREFIX "${name}."
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    DISCOVERY_TIMEOUT 120
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
  add_dependencies(truce_${arg_LABEL}_tests ${name})
endfunction()

# truce_fuzz(<name> SOURCES x_fuzz.cc LINK targets CORPUS dir)
#
# With TRUCE_FUZZ a libFuzzer program; otherwise a program that replays every file of the corpus,
# registered as test "<name>" with label fuzz.
function(truce_fuzz name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "CORPUS" "SOURCES;LINK")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_CORPUS)
    message(FATAL_ERROR "truce_fuzz(${name}): needs SOURCES, LINK and CORPUS only")
  endif()
  get_filename_component(corpus "${arg_CORPUS}" ABSOLUTE)
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${arg_LINK} truce_flags)
  add_dependencies(truce_fuzz_tests ${name})
  if(TRUCE_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${name} PRIVATE "${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cc")
    add_test(NAME ${name} COMMAND ${name} "${corpus}")
    set_tests_properties(${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
endfunction()

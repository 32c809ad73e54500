# How every target of Truce is declared: language level, warnings, hardening, sanitizers, tests.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

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
    $<$<BOOL:${TRUCE_WERROR}>:-Werror>
    -fno-omit-frame-pointer)
target_link_libraries(truce_flags INTERFACE Threads::Threads)

if(TRUCE_SANITIZE)
  target_compile_options(truce_flags INTERFACE -fsanitize=${TRUCE_SANITIZE}
                                               -fno-sanitize-recover=all)
  target_link_options(truce_flags INTERFACE -fsanitize=${TRUCE_SANITIZE})
  target_compile_definitions(truce_flags INTERFACE TRUCE_ASSERTIONS _GLIBCXX_ASSERTIONS)
else()
  target_compile_definitions(
    truce_flags INTERFACE $<$<CONFIG:Debug>:TRUCE_ASSERTIONS> $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)
  target_compile_options(
    truce_flags
    INTERFACE -fstack-protector-strong -fstack-clash-protection
              $<$<CONFIG:Release>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2>)
  target_link_options(truce_flags INTERFACE -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

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

# truce_library(<target> SOURCES a.cc HEADERS a.h LINK targets [PRIVATE_LINK third_party])
#
# A static library, or an interface library when there are only headers. Headers are included from
# the root of the repository, and each must compile alone (target all_verify_interface_header_sets).
function(truce_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "truce_library(${target}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(${target} PRIVATE truce_flags ${arg_PRIVATE_LINK})
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

# truce_test(<name> LABEL unit|contract|model|golden|fault SOURCES x_test.cc LINK targets)
#
# A GoogleTest program with its own main; each of its cases is one ctest entry "<name>.<case>".
function(truce_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT" "SOURCES;LINK")
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
  gtest_discover_tests(
    ${name}
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

# Third-party libraries, each as one target truce::<name> (or OpenSSL::*, Threads::Threads,
# GTest::*), all SYSTEM: their headers are exempt from Truce's warnings.
#
# cpp-httplib and SQLite have a minimum version that many systems lack. They are looked for
#   1. in the system (pkg-config), where recent enough;
#   2. in TRUCE_DEPS_DIR, where .tools/sources.sh puts their sources from Debian's source packages;
#   3. with -DTRUCE_FETCH=ON, upstream (TRUCE_*_URL, TRUCE_*_SHA256).
# Sources of 2 and 3 are compiled here, so that sanitizers and hardening reach them.

# Older versions have known vulnerabilities and lack the seams that webhook/http builds on.
set(TRUCE_HTTPLIB_MIN 0.41.0)
# Older versions can corrupt a database when two connections write or checkpoint at one instant.
set(TRUCE_SQLITE_MIN 3.51.3)

set(TRUCE_DEPS_DIR "${PROJECT_SOURCE_DIR}/build/deps"
    CACHE PATH "Folder with httplib/httplib.{h,cc} and sqlite/sqlite3.{h,c}")
# The checksums are the ones published for these files; a file that differs is refused.
set(TRUCE_HTTPLIB_URL "https://github.com/yhirose/cpp-httplib/archive/refs/tags/v0.41.0.tar.gz"
    CACHE STRING "Where TRUCE_FETCH gets cpp-httplib")
set(TRUCE_HTTPLIB_SHA256 "6d38a6b74ea33ac3133b8352f2b55b557c1d42f36e1ed0c01f852e3218329d39"
    CACHE STRING "SHA-256 of TRUCE_HTTPLIB_URL")
set(TRUCE_SQLITE_URL "https://www.sqlite.org/2026/sqlite-amalgamation-3530400.zip"
    CACHE STRING "Where TRUCE_FETCH gets SQLite's amalgamation")
set(TRUCE_SQLITE_SHA256 "1e71ddf93849c6a6ecf58b827c0692073d2dd7ee40196158068f7b29f422e87d"
    CACHE STRING "SHA-256 of TRUCE_SQLITE_URL")
set(TRUCE_PREACT_URL "https://registry.npmjs.org/preact/-/preact-10.29.8.tgz"
    CACHE STRING "Where TRUCE_FETCH gets preact")
set(TRUCE_PREACT_SHA256 "b18cb0a457f3d43c7bb30391a74ade7d13e03bc6e77915e061c70c0fe1123299"
    CACHE STRING "SHA-256 of TRUCE_PREACT_URL")

include(FetchContent)
include(GoogleTest)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(GTest REQUIRED)
find_package(simdjson REQUIRED CONFIG)
find_package(nlohmann_json 3.11 REQUIRED CONFIG)
find_package(fmt 9 REQUIRED CONFIG)
find_package(spdlog 1.10 REQUIRED CONFIG)
find_package(CLI11 2.1 REQUIRED CONFIG)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
pkg_check_modules(libpq REQUIRED IMPORTED_TARGET libpq>=14)
pkg_check_modules(jemalloc REQUIRED IMPORTED_TARGET jemalloc)

add_library(truce::simdjson ALIAS simdjson::simdjson)
add_library(truce::json ALIAS nlohmann_json::nlohmann_json)
add_library(truce::fmt ALIAS fmt::fmt)
add_library(truce::spdlog ALIAS spdlog::spdlog)
add_library(truce::cli11 ALIAS CLI11::CLI11)
add_library(truce::yaml ALIAS PkgConfig::yaml)
add_library(truce::re2 ALIAS PkgConfig::re2)
add_library(truce::libpq ALIAS PkgConfig::libpq)
# The store loads it when it is needed (registry/store/postgres/libpq.h).
add_library(truce_libpq_headers INTERFACE)
target_include_directories(truce_libpq_headers SYSTEM INTERFACE ${libpq_INCLUDE_DIRS})
add_library(truce::libpq_headers ALIAS truce_libpq_headers)
add_library(truce::jemalloc ALIAS PkgConfig::jemalloc)

# Sets <out> to the version that <header> defines as <macro>, or to "" without such a file.
function(truce_header_version out header macro)
  set(version "")
  if(EXISTS "${header}")
    file(STRINGS "${header}" line REGEX "^#define ${macro} +\"[0-9.]+\"" LIMIT_COUNT 1)
    string(REGEX REPLACE ".*\"([0-9.]+)\".*" "\\1" version "${line}")
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# Downloads TRUCE_<name>_URL, checked by its hash, and sets <out> to the folder.
function(truce_fetch out name)
  if(NOT TRUCE_${name}_URL OR NOT TRUCE_${name}_SHA256)
    message(FATAL_ERROR "TRUCE_FETCH needs TRUCE_${name}_URL and TRUCE_${name}_SHA256")
  endif()
  string(TOLOWER "${name}_source" content)
  fetchcontent_declare(
    ${content}
    URL "${TRUCE_${name}_URL}"
    URL_HASH "SHA256=${TRUCE_${name}_SHA256}"
    DOWNLOAD_EXTRACT_TIMESTAMP ON
    SOURCE_SUBDIR no-project)
  fetchcontent_makeavailable(${content})
  set(${out} "${${content}_SOURCE_DIR}" PARENT_SCOPE)
endfunction()

# Ends the configuration unless <version> of <name> is at least its minimum.
function(truce_require_version name version where)
  if(version VERSION_GREATER_EQUAL TRUCE_${name}_MIN)
    message(STATUS "Found ${name} ${version} in ${where}")
    return()
  endif()
  if(version STREQUAL "")
    set(version none)
  endif()
  message(
    FATAL_ERROR
      "${name} ${TRUCE_${name}_MIN} or newer is needed; the system has "
      "\"${TRUCE_${name}_SYSTEM_VERSION}\", ${where} has ${version}.\n"
      "Run .tools/setup.sh (it takes Debian's source package), or configure with "
      "-DTRUCE_FETCH=ON on a machine that reaches upstream.")
endfunction()

# The system's library <module> of pkg-config when recent enough: sets TRUCE_<name>_SYSTEM and <version>.
macro(truce_find_system name module version)
  pkg_check_modules(${module} QUIET IMPORTED_TARGET GLOBAL ${module})
  set(TRUCE_${name}_SYSTEM_VERSION "${${module}_VERSION}")
  if(${module}_FOUND AND ${module}_VERSION VERSION_GREATER_EQUAL TRUCE_${name}_MIN)
    set(TRUCE_${name}_SYSTEM TRUE)
    set(${version} "${${module}_VERSION}")
    message(STATUS "Found ${name} ${${module}_VERSION} in the system")
  endif()
endmacro()

# Third-party code that is compiled here gets the memory or thread sanitizer of the build or the hardening of
# Truce's own code, and optimisation in every build: nobody steps through it.
function(truce_third_party target)
  if(TRUCE_SANITIZE MATCHES "address|thread")
    target_compile_options(${target} PRIVATE -w -O1 -fsanitize=${CMAKE_MATCH_0} -fno-omit-frame-pointer)
  else()
    target_compile_options(${target} PRIVATE -w -O2 ${TRUCE_HARDENING} ${TRUCE_PREFIX_MAP})
  endif()
endfunction()

truce_find_system(HTTPLIB cpp-httplib httplib_version)
if(TRUCE_HTTPLIB_SYSTEM)
  add_library(truce::httplib ALIAS PkgConfig::cpp-httplib)
else()
  set(httplib_dir "${TRUCE_DEPS_DIR}/httplib")
  if(TRUCE_FETCH)
    truce_fetch(httplib_source HTTPLIB)
    set(httplib_dir "${PROJECT_BINARY_DIR}/httplib")
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
    execute_process(
      COMMAND "${Python3_EXECUTABLE}" "${httplib_source}/split.py" -e cc -o "${httplib_dir}"
      OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  endif()
  truce_header_version(httplib_version "${httplib_dir}/httplib.h" CPPHTTPLIB_VERSION)
  truce_require_version(HTTPLIB "${httplib_version}" "${httplib_dir}")
  add_library(truce_httplib STATIC EXCLUDE_FROM_ALL "${httplib_dir}/httplib.cc")
  target_include_directories(truce_httplib SYSTEM PUBLIC "${httplib_dir}")
  target_compile_features(truce_httplib PUBLIC cxx_std_20)
  target_compile_definitions(truce_httplib PUBLIC CPPHTTPLIB_OPENSSL_SUPPORT)
  target_link_libraries(truce_httplib PUBLIC OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
  set_target_properties(truce_httplib PROPERTIES POSITION_INDEPENDENT_CODE ON)
  truce_third_party(truce_httplib)
  add_library(truce::httplib ALIAS truce_httplib)
endif()

truce_find_system(SQLITE sqlite3 sqlite_version)
if(TRUCE_SQLITE_SYSTEM)
  add_library(truce::sqlite ALIAS PkgConfig::sqlite3)
else()
  set(sqlite_dir "${TRUCE_DEPS_DIR}/sqlite")
  if(TRUCE_FETCH)
    truce_fetch(sqlite_dir SQLITE)
  endif()
  truce_header_version(sqlite_version "${sqlite_dir}/sqlite3.h" SQLITE_VERSION)
  truce_require_version(SQLITE "${sqlite_version}" "${sqlite_dir}")
  add_library(truce_sqlite STATIC EXCLUDE_FROM_ALL "${sqlite_dir}/sqlite3.c")
  target_include_directories(truce_sqlite SYSTEM PUBLIC "${sqlite_dir}")
  target_compile_definitions(
    truce_sqlite
    PRIVATE
      SQLITE_THREADSAFE=2  # A connection is used by one thread at a time.
      SQLITE_DQS=0
      SQLITE_DEFAULT_MEMSTATUS=0
      SQLITE_DEFAULT_WAL_SYNCHRONOUS=2
      SQLITE_LIKE_DOESNT_MATCH_BLOBS
      SQLITE_MAX_EXPR_DEPTH=100
      SQLITE_OMIT_DEPRECATED
      SQLITE_OMIT_LOAD_EXTENSION
      SQLITE_OMIT_SHARED_CACHE
      SQLITE_STRICT_SUBTYPE=1
      SQLITE_TRUSTED_SCHEMA=0
      SQLITE_USE_ALLOCA
      HAVE_FDATASYNC=1
      HAVE_USLEEP=1
      HAVE_ISNAN=1
      HAVE_LOCALTIME_R=1)
  target_link_libraries(truce_sqlite PUBLIC Threads::Threads m)
  set_target_properties(truce_sqlite PROPERTIES POSITION_INDEPENDENT_CODE ON)
  truce_third_party(truce_sqlite)
  add_library(truce::sqlite ALIAS truce_sqlite)
endif()

# preact and its hooks, as one file of the page: TRUCE_PREACT.
set(preact_files "${TRUCE_DEPS_DIR}/preact/preact.min.umd.js" "${TRUCE_DEPS_DIR}/preact/hooks.umd.js")
if(TRUCE_FETCH)
  truce_fetch(preact_dir PREACT)
  set(preact_files "${preact_dir}/dist/preact.min.umd.js" "${preact_dir}/hooks/dist/hooks.umd.js")
endif()
set(TRUCE_PREACT "${PROJECT_BINARY_DIR}/preact.js")
set(preact_text "")
foreach(file IN LISTS preact_files)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${file} is missing: run .tools/setup.sh, or configure with -DTRUCE_FETCH=ON")
  endif()
  file(READ "${file}" part)
  string(REGEX REPLACE "\n?//# sourceMappingURL=[^\n]*\n?" "\n" part "${part}")
  string(APPEND preact_text "${part}")
endforeach()
file(WRITE "${TRUCE_PREACT}.new" "${preact_text}")
file(COPY_FILE "${TRUCE_PREACT}.new" "${TRUCE_PREACT}" ONLY_IF_DIFFERENT)
set(preact_version "${TRUCE_PREACT_URL}")
if(NOT TRUCE_FETCH)
  file(READ "${TRUCE_DEPS_DIR}/preact/SOURCE" preact_version)
endif()
string(REGEX MATCH "preact[-\t]([0-9.]*[0-9])" preact_version "${preact_version}")
set(preact_version "${CMAKE_MATCH_1}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${preact_files})

# What `truce --version -o json` says, and the SBOM: "name=version,name=version".
set(TRUCE_LIBRARIES "")
foreach(
  library IN
  ITEMS "cpp-httplib=${httplib_version}"
        "sqlite=${sqlite_version}"
        "openssl=${OPENSSL_VERSION}"
        "simdjson=${simdjson_VERSION}"
        "nlohmann-json=${nlohmann_json_VERSION}"
        "spdlog=${spdlog_VERSION}"
        "fmt=${fmt_VERSION}"
        "cli11=${CLI11_VERSION}"
        "re2=${re2_VERSION}"
        "libyaml=${yaml_VERSION}"
        "jemalloc=${jemalloc_VERSION}"
        "preact=${preact_version}")
  # Debian says "5.3.0_0" of jemalloc, and of RE2, which numbers nothing, "0.0.0".
  string(REGEX REPLACE "_[0-9]+$|=0\\.0\\.0$" "" library "${library}")
  string(APPEND TRUCE_LIBRARIES "${library},")
endforeach()
string(REGEX REPLACE ",$" "" TRUCE_LIBRARIES "${TRUCE_LIBRARIES}")

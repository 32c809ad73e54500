# Compiles through ccache where it is installed, third-party sources too. The folder of the checkout and of the
# build do not count, so that a fresh clone finds what another one compiled.

find_program(TRUCE_CCACHE ccache)
if(TRUCE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # What stands in a precompiled header is hashed by its content; no source asks for time or date.
  set(launcher
      "${CMAKE_COMMAND}" -E env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      "${TRUCE_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${launcher}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${launcher}")
endif()

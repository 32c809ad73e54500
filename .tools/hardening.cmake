# What makes faults of memory harder to use: for Truce's own code and for third-party code that is compiled
# here. tests/system/test_binary.py reads the program for it. Sanitizers find such faults themselves, and
# some of these flags would hide them.

include(CheckCCompilerFlag)
include(CheckCSourceCompiles)

# No path of the machine that built it: what a failed assertion prints begins at the root of the checkout.
set(TRUCE_PREFIX_MAP "-ffile-prefix-map=${PROJECT_BINARY_DIR}/=" "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=")
set(TRUCE_HARDENING "")
set(TRUCE_HARDENING_LINK "")
if(NOT TRUCE_SANITIZE)
  # Some are for some processors and compilers only: clang 14 has no zeroing without a second flag, and the
  # enforcement of control flow has a name for each processor.
  foreach(flag IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection=full
                        -mbranch-protection=standard -ftrivial-auto-var-init=zero)
    string(MAKE_C_IDENTIFIER "TRUCE_HAS${flag}" known)
    check_c_compiler_flag("-Werror ${flag}" ${known})
    if(${known})
      list(APPEND TRUCE_HARDENING ${flag})
    endif()
  endforeach()
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    # The C library warns of a level that compiler or library lack.
    set(CMAKE_REQUIRED_FLAGS "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
    check_c_source_compiles("#include <string.h>\nint main(void) { return 0; }" TRUCE_HAS_FORTIFY_3)
    unset(CMAKE_REQUIRED_FLAGS)
    list(APPEND TRUCE_HARDENING -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$<IF:$<BOOL:${TRUCE_HAS_FORTIFY_3}>,3,2>
                                -D_GLIBCXX_ASSERTIONS)
  endif()
  set(TRUCE_HARDENING_LINK -Wl,-z,relro,-z,now,-z,noexecstack)
endif()

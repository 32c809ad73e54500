# Toolchain of the presets "clang" and "fuzz": clang 14 where it is there, else what there is.
find_program(TRUCE_CLANG NAMES clang-14 clang clang-19 clang-18 REQUIRED)
find_program(TRUCE_CLANGXX NAMES clang++-14 clang++ clang++-19 clang++-18 REQUIRED)
set(CMAKE_C_COMPILER "${TRUCE_CLANG}")
set(CMAKE_CXX_COMPILER "${TRUCE_CLANGXX}")

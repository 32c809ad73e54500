# Builds for arm64 on another machine, with Debian's cross compiler and its libraries of that architecture
# (release/other_debian.sh image).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/aarch64-linux-gnu/pkgconfig:/usr/share/pkgconfig)
# Programs that the build makes for itself run by the emulator.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static)

# For 64-bit ARM from another machine, with Debian's cross compiler and its arm64 libraries (docs/how-to/arm64.md): the preset
# `arm64` takes it. What the build or a test runs of what it has built runs under QEMU.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
find_program(GV_QEMU NAMES qemu-aarch64-static qemu-aarch64)
if(GV_QEMU)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${GV_QEMU})
endif()

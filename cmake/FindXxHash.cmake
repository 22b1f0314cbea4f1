# Debian's libxxhash-dev has no CMake config. Provides XxHash::XxHash (header-only mode).
find_path(XxHash_INCLUDE_DIR xxhash.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(XxHash REQUIRED_VARS XxHash_INCLUDE_DIR)
if(XxHash_FOUND AND NOT TARGET XxHash::XxHash)
  add_library(XxHash::XxHash INTERFACE IMPORTED)
  target_include_directories(XxHash::XxHash SYSTEM INTERFACE ${XxHash_INCLUDE_DIR})
  target_compile_definitions(XxHash::XxHash INTERFACE XXH_INLINE_ALL)
endif()

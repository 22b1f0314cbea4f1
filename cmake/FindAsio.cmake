# Debian's libasio-dev ships headers only. Provides Asio::Asio (standalone Asio, C++20 coroutines).
find_path(Asio_INCLUDE_DIR asio.hpp)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Asio REQUIRED_VARS Asio_INCLUDE_DIR)
if(Asio_FOUND AND NOT TARGET Asio::Asio)
  find_package(Threads REQUIRED)
  add_library(Asio::Asio INTERFACE IMPORTED)
  target_include_directories(Asio::Asio SYSTEM INTERFACE ${Asio_INCLUDE_DIR})
  target_compile_definitions(Asio::Asio INTERFACE ASIO_STANDALONE ASIO_NO_DEPRECATED
    $<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_CO_AWAIT=1> $<$<CXX_COMPILER_ID:Clang>:ASIO_HAS_STD_COROUTINE=1>)
  target_link_libraries(Asio::Asio INTERFACE Threads::Threads)
endif()

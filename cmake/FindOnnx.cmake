# Debian's libonnx-dev has a CMake config that asks for more of the library than anybody here needs. Provides Onnx_PROTO,
# the file onnx.proto, and Onnx::Checker for tests, which must not link messages that were generated from it.
find_path(Onnx_INCLUDE_DIR onnx/onnx.proto)
find_library(Onnx_LIBRARY onnx)
find_library(Onnx_PROTO_LIBRARY onnx_proto)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Onnx REQUIRED_VARS Onnx_INCLUDE_DIR Onnx_LIBRARY Onnx_PROTO_LIBRARY)
if(Onnx_FOUND AND NOT TARGET Onnx::Checker)
  set(Onnx_PROTO ${Onnx_INCLUDE_DIR}/onnx/onnx.proto)
  add_library(Onnx::Checker INTERFACE IMPORTED)
  target_include_directories(Onnx::Checker SYSTEM INTERFACE ${Onnx_INCLUDE_DIR})
  target_compile_definitions(Onnx::Checker INTERFACE ONNX_ML=1 ONNX_NAMESPACE=onnx)
  target_link_libraries(Onnx::Checker INTERFACE ${Onnx_LIBRARY} ${Onnx_PROTO_LIBRARY} protobuf::libprotobuf)
endif()

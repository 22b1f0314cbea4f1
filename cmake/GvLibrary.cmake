# libgrapevine.so, which programs in any language load: the calls of peer/cli/embed/grapevine_program.h and nothing else come
# out of it. It computes no gradient, so that no model of ours and no oneDNN is in it.
add_library(grapevine_library SHARED
  ${PROJECT_SOURCE_DIR}/peer/cli/embed/program/grapevine_program.cpp
  ${PROJECT_SOURCE_DIR}/peer/cli/embed/no_models.cpp)
gv_options(grapevine_library)
gv_shared(grapevine_library)
set(GV_LIBRARY_SYMBOLS ${PROJECT_SOURCE_DIR}/peer/cli/embed/libgrapevine.map)
set_target_properties(grapevine_library PROPERTIES
  OUTPUT_NAME grapevine
  GV_WITHOUT_MODELS ON
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}
  CXX_VISIBILITY_PRESET hidden
  # What was sent to another machine finds what was sent with it.
  BUILD_RPATH "$ORIGIN"
  INSTALL_RPATH "$ORIGIN"
  LINK_DEPENDS ${GV_LIBRARY_SYMBOLS})
target_include_directories(grapevine_library INTERFACE ${PROJECT_SOURCE_DIR}/peer/cli/embed)
target_link_libraries(grapevine_library PRIVATE gv_embed fmt::fmt)
# The C++ library of whoever loads it may be older, and none of its own is seen outside.
target_link_options(grapevine_library PRIVATE -static-libstdc++ -static-libgcc
  LINKER:--version-script=${GV_LIBRARY_SYMBOLS} LINKER:--no-undefined LINKER:--as-needed LINKER:--gc-sections
  LINKER:-z,muldefs)   # no_models.cpp comes first and replaces what the archives define
# Functions that are the same, as those of one template for two types of one layout, are kept once. Gold alone does it.
include(CheckLinkerFlag)
check_linker_flag(CXX "-fuse-ld=gold;LINKER:--icf=safe" GV_FOLDS_FUNCTIONS)
if(GV_FOLDS_FUNCTIONS)
  target_link_options(grapevine_library PRIVATE -fuse-ld=gold LINKER:--icf=safe)
endif()
if(CMAKE_BUILD_TYPE MATCHES "Release")
  target_link_options(grapevine_library PRIVATE -s)
endif()
install(TARGETS grapevine_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT program EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_SOURCE_DIR}/peer/cli/embed/grapevine_program.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/grapevine
  COMPONENT program EXCLUDE_FROM_ALL)

# For programs that embed a peer: one header, one archive of all our libraries, and a target that names what it needs of
# the system. Not part of the Debian package: `cmake --build ... --target grapevine_embed`, then
# `cmake --install ... --component development`. Methods outside the tree need no archive, so without it the rest is
# installed.
include(CMakePackageConfigHelpers)
set(GV_EMBED_ARCHIVE ${PROJECT_BINARY_DIR}/libgrapevine.a)
set(GV_EMBED_PARTS gv_embed gv_show gv_live gv_study gv_launch gv_sim gv_runtime gv_model gv_wire gv_record
  gv_fleet gv_gossip gv_graph gv_gpu gv_optim gv_wire_proto)
foreach(part ${GV_EMBED_PARTS})
  string(APPEND GV_EMBED_SCRIPT "addlib $<TARGET_FILE:${part}>\n")
endforeach()
file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/grapevine_embed.mri
  CONTENT "create ${GV_EMBED_ARCHIVE}\n${GV_EMBED_SCRIPT}save\nend\n")
# -D: no times and no owners, so that the same objects make the same archive.
add_custom_command(OUTPUT ${GV_EMBED_ARCHIVE}
  COMMAND ${CMAKE_COMMAND} -E rm -f ${GV_EMBED_ARCHIVE}
  COMMAND ${CMAKE_AR} -M < ${PROJECT_BINARY_DIR}/grapevine_embed.mri
  COMMAND ${CMAKE_RANLIB} -D ${GV_EMBED_ARCHIVE}
  DEPENDS ${GV_EMBED_PARTS} ${PROJECT_BINARY_DIR}/grapevine_embed.mri
  COMMENT "libgrapevine.a"
  VERBATIM)
add_custom_target(grapevine_embed DEPENDS ${GV_EMBED_ARCHIVE})

set(GV_EMBED_CMAKE ${CMAKE_INSTALL_LIBDIR}/cmake/Grapevine)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/GrapevineConfig.cmake.in
  ${PROJECT_BINARY_DIR}/GrapevineConfig.cmake INSTALL_DESTINATION ${GV_EMBED_CMAKE}
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/GrapevineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/peer/cli/embed/grapevine.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/grapevine
  COMPONENT development EXCLUDE_FROM_ALL)
install(FILES ${GV_EMBED_ARCHIVE} DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development EXCLUDE_FROM_ALL OPTIONAL)
install(CODE "if(NOT EXISTS \"${GV_EMBED_ARCHIVE}\")
    message(STATUS \"Without libgrapevine.a, which programs that embed peers need: it is the target grapevine_embed\")
  endif()" COMPONENT development EXCLUDE_FROM_ALL)
install(FILES ${PROJECT_BINARY_DIR}/GrapevineConfig.cmake ${PROJECT_BINARY_DIR}/GrapevineConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/FindDnnl.cmake
  DESTINATION ${GV_EMBED_CMAKE} COMPONENT development EXCLUDE_FROM_ALL)

# What a method outside the tree is compiled with (examples/method): the headers of the rooms that methods stand on, and
# the hash of the sources, which the program holds against its own.
foreach(room graph optim gossip)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/grapevine/method
    COMPONENT development EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/generated/grapevine_sources.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/grapevine/method
  COMPONENT development EXCLUDE_FROM_ALL)

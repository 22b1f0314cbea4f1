# What is installed beside the program, which writes all of it: completions for three shells and man pages. And the
# Debian package, by `cpack -G DEB` in the build folder.
set(GV_SHARE ${PROJECT_BINARY_DIR}/share)
set(GV_SHARE_STAMP ${GV_SHARE}/stamp)
find_program(GZIP gzip REQUIRED)
configure_file(${PROJECT_SOURCE_DIR}/cmake/changelog.Debian.in ${PROJECT_BINARY_DIR}/changelog.Debian @ONLY)
add_custom_command(OUTPUT ${GV_SHARE_STAMP}
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${GV_SHARE}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${GV_SHARE}/man1
  COMMAND grapevine reference man ${GV_SHARE}/man1
  COMMAND grapevine completion bash > ${GV_SHARE}/grapevine.bash
  COMMAND grapevine completion zsh > ${GV_SHARE}/_grapevine
  COMMAND grapevine completion fish > ${GV_SHARE}/grapevine.fish
  COMMAND ${GZIP} -9nr ${GV_SHARE}/man1
  COMMAND ${GZIP} -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${GV_SHARE}/changelog.gz
  COMMAND ${GZIP} -9nc ${PROJECT_BINARY_DIR}/changelog.Debian > ${GV_SHARE}/changelog.Debian.gz
  COMMAND ${CMAKE_COMMAND} -E touch ${GV_SHARE_STAMP}
  DEPENDS grapevine ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  COMMENT "Completions and man pages"
  VERBATIM)
add_custom_target(grapevine_share ALL DEPENDS ${GV_SHARE_STAMP})

install(DIRECTORY ${GV_SHARE}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} FILES_MATCHING PATTERN "*.gz")
install(FILES ${GV_SHARE}/grapevine.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME grapevine)
install(FILES ${GV_SHARE}/_grapevine DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES ${GV_SHARE}/grapevine.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES ${GV_SHARE}/changelog.gz ${GV_SHARE}/changelog.Debian.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${PROJECT_SOURCE_DIR}/cmake/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
# configs/text-transformer-ring4.yaml reads the license as its text.
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/configs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples)

# A package needs the program and what it wrote, and no test.
set(CMAKE_SKIP_INSTALL_ALL_DEPENDENCY TRUE)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME grapevine)
set(CPACK_PACKAGE_CONTACT "The Grapevine developers <developers@grapevine.example>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "decentralized gossip learning on several machines")
set(CPACK_PACKAGE_DESCRIPTION
  "Trains one model on several machines without a server: every peer keeps its own
replica, takes SGD steps on its own part of the data and averages with its
neighbours over TCP. Simulates the same fleets in virtual time, bit for bit.")
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
if(CMAKE_CROSSCOMPILING)   # cpack itself would take the architecture of the machine that packs
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE arm64)
endif()
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openssh-client)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS dataset-fashion-mnist)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
include(CPack)

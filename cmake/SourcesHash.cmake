# cmake -DROOT=... -DVERSION=... -DOUTPUT=FILE -DHEADER=FILE -P cmake/SourcesHash.cmake: writes FILE, a C++ source with the
# program's version and a hash of the sources that it is made of, so that two programs of one version text but of other sources are told apart. The hash is over
# names below ROOT and contents alone: the same in every folder and on every machine. FILE is left as it is where the hash
# has not changed, so that nothing is linked anew.
file(GLOB_RECURSE sources RELATIVE ${ROOT} ${ROOT}/graph/* ${ROOT}/optim/* ${ROOT}/gossip/* ${ROOT}/gpu/* ${ROOT}/peer/*
  ${ROOT}/cmake/*)
list(FILTER sources INCLUDE REGEX "(\\.(h|cpp|cu|cuh|proto|cmake|yaml|service|css|js|bash|zsh|bib)|CMakeLists\\.txt)$")
list(APPEND sources CMakeLists.txt)
list(SORT sources)
set(text "")
foreach(source IN LISTS sources)
  file(SHA256 ${ROOT}/${source} hash)
  string(APPEND text "${hash} ${source}\n")
endforeach()
string(SHA256 hash "${text}")
string(SUBSTRING ${hash} 0 12 hash)
# HEADER, for plug-ins (gossip/plugin.h), says the same.
function(write_changed file text)
  if(EXISTS ${file})
    file(READ ${file} before)
  endif()
  if(NOT text STREQUAL "${before}")
    file(WRITE ${file} "${text}")
  endif()
endfunction()
write_changed(${OUTPUT} "namespace gv {
extern const char sources_hash[], program_version[];
const char sources_hash[] = \"${hash}\";
const char program_version[] = \"${VERSION}\";
}
")
write_changed(${HEADER} "#pragma once\n#define GRAPEVINE_SOURCES \"${hash}\"\n")

# gv_options(target): the flags of our own code; third parties come in as SYSTEM and are not held to them.
# -ffp-contract=off: the two ends of an edge must compute bitwise opposite flows, whatever the compiler.
function(gv_options target)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR})
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wconversion -Wshadow=local -ffp-contract=off -fno-math-errno>
    # Under a sanitizer g++ 12 warns of overruns inside its own strings that no path of the program has.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:${GV_SANITIZE}>>>:-Werror>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,-ffp-contract=off>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${GV_CUDA_WERROR}>>:-Xcompiler=-Werror -Werror=all-warnings>)
  if(GV_REPRODUCIBLE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
      -ffile-prefix-map=${PROJECT_BINARY_DIR}=build>)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    target_compile_options(${target} PUBLIC $<$<COMPILE_LANGUAGE:CXX>:-march=x86-64-v3>
      $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-march=x86-64-v3>)
  endif()
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(guards_jumps -fcf-protection)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(guards_jumps -mbranch-protection=standard)
  endif()
  if(NOT GV_SANITIZE)
    # What a damaged frame or file might overwrite ends the program instead of steering it.
    target_compile_options(${target} PRIVATE
      $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release,RelWithDebInfo>>:-fstack-protector-strong
      -fstack-clash-protection ${guards_jumps} -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3>)
    target_link_options(${target} PUBLIC -Wl,-z,relro,-z,now)
  endif()
  if(GV_SANITIZE STREQUAL "address")
    # g++ 12 sees uninitialized members in its own <regex> and <functional> under this sanitizer.
    target_compile_options(${target} PUBLIC -fsanitize=address,undefined -fno-sanitize-recover=undefined
      -fno-omit-frame-pointer -Wno-maybe-uninitialized -Wno-mismatched-new-delete)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  elseif(GV_SANITIZE STREQUAL "thread")
    # g++ 12 takes the frames of Asio's coroutines for mismatched when they are not inlined.
    # Asio's fences are unknown to the thread sanitizer; its queue is a mutex's either way.
    target_compile_options(${target} PUBLIC -fsanitize=thread -Wno-tsan -Wno-mismatched-new-delete)
    target_compile_definitions(${target} PUBLIC ASIO_DISABLE_FENCED_BLOCK)
    target_link_options(${target} PUBLIC -fsanitize=thread)
  elseif(GV_SANITIZE STREQUAL "fuzzer")
    # clang's; g++ says what there is to warn of.
    target_compile_options(${target} PUBLIC -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow
      -fno-sanitize-recover=all -fno-omit-frame-pointer -w)
    target_link_options(${target} PUBLIC -fsanitize=address,undefined)
  endif()
endfunction()

# gv_shared(target): what libgrapevine.so holds too. Nothing of it is meant to be replaced by another library's function of
# the same name, so that calls inside it stay calls that the compiler sees through. What it does not call is left out.
function(gv_shared target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition -ffunction-sections
    -fdata-sections>)
endfunction()

# gv_text(target): what reads files, writes text and waits for people and processes. -O1 takes a quarter less to compile.
function(gv_text target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# gv_batches(target): sources are compiled eight at a time, as one: what they all include is then read once and each template
# made once, which takes less than half as long. No two of a batch may give one name to things of their own (tests/tidy).
option(GV_BATCHES "Compile the sources of a library eight at a time" ON)
function(gv_batches target)
  if(GV_BATCHES)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # g++ takes the included sources for headers, whose unnamed namespaces would be another's in each source.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

# gv_alone(sources...): they are compiled one by one. So must all that another source of a link replaces, as sources of one
# batch with it would go on to call the old one.
function(gv_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# gv_data(source header files...): texts that a source contains. The generated header defines a string for each file:
# page_css for page.css.
function(gv_data source header)
  set(texts "#include <string_view>\n")
  foreach(file ${ARGN})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    get_filename_component(name ${file} NAME)
    string(REPLACE "." "_" name ${name})
    string(APPEND texts "constexpr std::string_view ${name} = R\"data(${text})data\";\n")
  endforeach()
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/${header} CONTENT "@texts@" @ONLY)
  set_source_files_properties(${source} PROPERTIES INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR})
endfunction()

# gv_table(target function header type ending names...): the function that returns a table, in a source of its own. Each row
# is in the file of its method, model or command: a constant (ending _row), or what a function returns (ending "_model()").
# The names are in the order of the table.
function(gv_table target function header type ending)
  string(REGEX REPLACE "::[^:]+$" "" namespace ${function})
  string(REGEX REPLACE "^.*::" "" name ${function})
  list(TRANSFORM ARGN APPEND "${ending}")
  list(JOIN ARGN ", " rows)
  list(JOIN ARGN ", &" addresses)
  if(ending MATCHES "\\(\\)$")
    set(declared "${type} ${rows}")
    set(returned "const std::vector<${type}>&")
    set(table "const std::vector<${type}> rows{${rows}}")
  else()
    set(declared "extern const ${type} ${rows}")
    set(returned "std::span<const ${type}* const>")
    set(table "constexpr const ${type}* rows[]{&${addresses}}")
  endif()
  set(source ${PROJECT_BINARY_DIR}/generated/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT "#include \"${header}\"

namespace ${namespace} {

${declared};

${returned} ${name}() {
  static ${table};
  return rows;
}

}  // namespace ${namespace}
")
  target_sources(${target} PRIVATE ${source})
endfunction()

# gv_precompile(target headers...): headers that most sources of the target include, parsed once: of third parties, of the
# standard library, and of rooms below (whoever parses a header so is not warned of what is in it, its own room is). Every
# source still includes what it needs: GV_PRECOMPILE=OFF builds without, and .ci/ does so once. Clang compares what it parsed
# by content: an upgraded package brings headers of another time, which are older than the parsed ones, so that nobody parses
# them anew.
option(GV_PRECOMPILE "Parse headers that most sources of a target include once per target" ON)
function(gv_precompile target)
  if(GV_PRECOMPILE)
    gv_reads_precompiled(${target})
    target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <cmath> <cstdint> <deque> <functional> <map> <memory>
      <numeric> <optional> <span> <sstream> <stdexcept> <string> <string_view> <utility> <vector> ${ARGN})
  endif()
endfunction()

# gv_precompiled_by(target other): what the other target has parsed. Both have the same options.
function(gv_precompiled_by target other)
  if(GV_PRECOMPILE)
    gv_reads_precompiled(${target})
    target_precompile_headers(${target} REUSE_FROM ${other})
    target_compile_definitions(${target} PRIVATE $<TARGET_PROPERTY:${other},COMPILE_DEFINITIONS>)
  endif()
endfunction()

function(gv_reads_precompiled target)
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
    $<$<CXX_COMPILER_ID:Clang>:-fpch-validate-input-files-content>)
endfunction()

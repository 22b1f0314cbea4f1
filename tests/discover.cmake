# Read by ctest, not by cmake: registers what a program of GoogleTest lists. gv_discover() of CMakeLists.txt leaves a call
# of gv_register() for each label of each program.
#
# GRAPEVINE_PART=K/N in the environment of ctest: of what is slow, and of the values of one case, this run does the K-th of N
# parts; without it, all.
cmake_minimum_required(VERSION 3.25)

set(gv_parts 1)
set(gv_part 0)
if(DEFINED ENV{GRAPEVINE_PART})
  if(NOT "$ENV{GRAPEVINE_PART}" MATCHES "^([0-9]+)/([1-9][0-9]*)$" OR NOT CMAKE_MATCH_1 LESS CMAKE_MATCH_2)
    message(FATAL_ERROR "GRAPEVINE_PART is K/N, and K below N: 0/5, for instance; it is '$ENV{GRAPEVINE_PART}'")
  endif()
  set(gv_part ${CMAKE_MATCH_1})
  set(gv_parts ${CMAKE_MATCH_2})
endif()

# Sets `out` to 0 where the test of that name is in the part of this run, and else to the number of parts up to its own.
function(gv_parts_to name out)
  string(MD5 digest "${name}")
  string(SUBSTRING ${digest} 0 7 digest)
  math(EXPR parts "(0x${digest} + ${gv_part}) % ${gv_parts}")
  set(${out} ${parts} PARENT_SCOPE)
endfunction()

# gv_register(program label filter): the cases that `filter` takes, in GoogleTest's words. Of fast ones a whole suite is one
# test, and so are all values of one case, since a process takes longer to start than most of them to run. Of the others each
# is a test, which has its own time limit, runs beside those of its suite and is seen to skip. Those of the label nightly are
# there for `ctest -C nightly` alone.
function(gv_register program label filter)
  if(label STREQUAL nightly AND NOT CTEST_CONFIGURATION_TYPE STREQUAL nightly)
    return()
  endif()
  get_filename_component(name ${program} NAME)
  if(NOT EXISTS ${program})
    add_test(${name}_NOT_BUILT ${name}_NOT_BUILT)
    return()
  endif()
  execute_process(COMMAND ${program} --gtest_list_tests --gtest_filter=${filter}
    OUTPUT_VARIABLE listed COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX REPLACE " +#[^\n]*" "" listed "${listed}")   # what the values of parameters are
  string(REGEX REPLACE "^Running main[^\n]*" "" listed "${listed}")
  string(REGEX MATCHALL "[^\n]+" listed "${listed}")
  string(REGEX MATCH "-.*" others "${filter}")   # what other labels take of the same suites
  foreach(line ${listed})
    if(line MATCHES "^([^ ]+)\\.$")
      set(suite ${CMAKE_MATCH_1})
    elseif(NOT label STREQUAL fast)
      string(STRIP ${line} case)
      gv_parts_to(${suite}.${case} parts)
      if(parts GREATER 0 AND (label STREQUAL slow OR label STREQUAL root))
        continue()
      endif()
      gv_register_one(${suite}.${case} ${program} ${suite}.${case} ${label} SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
    elseif(line MATCHES "^ +(.+)/")   # SUITE.CASE/VALUE
      set(case ${CMAKE_MATCH_1})
      gv_parts_to(${suite}.${case} shard)
      gv_register_one(${suite}.${case} ${program} "${suite}.${case}/*${others}" ${label}
        ENVIRONMENT "GRAPEVINE_CACHE=;GTEST_TOTAL_SHARDS=${gv_parts};GTEST_SHARD_INDEX=${shard}")
    else()
      gv_register_one(${suite} ${program} "${suite}.*${others}" ${label})
    endif()
  endforeach()
endfunction()

# gv_register_one(name program filter label properties...): once, however often it is called.
function(gv_register_one name program filter label)
  get_property(names DIRECTORY PROPERTY gv_${label}_of_${program})
  if(NOT name IN_LIST names)
    set_property(DIRECTORY APPEND PROPERTY gv_${label}_of_${program} ${name})
    add_test(${name} ${program} --gtest_filter=${filter})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS ${label} ENVIRONMENT GRAPEVINE_CACHE= ${ARGN})
  endif()
endfunction()

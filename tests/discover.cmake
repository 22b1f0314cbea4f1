# Read by ctest, not by cmake: registers what a program of GoogleTest lists. gv_discover() of CMakeLists.txt leaves a call
# of gv_register() for each label of each program.
cmake_minimum_required(VERSION 3.25)

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
      gv_register_one(${suite}.${case} ${program} ${suite}.${case} ${label} SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
    elseif(line MATCHES "^ +(.+)/")   # SUITE.CASE/VALUE
      gv_register_one(${suite}.${CMAKE_MATCH_1} ${program} "${suite}.${CMAKE_MATCH_1}/*${others}" ${label})
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

# Tests of the built plugin: what it exports and needs, and a C program that plays NCCL to it.
set(lanewise_plugin $<TARGET_FILE:nccl-tuner-lanewise>)

add_executable(plays_nccl plays_nccl.c)
target_link_libraries(plays_nccl PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(plays_nccl nccl-tuner-lanewise)

# `plays_nccl_test(TEST SCENARIO [NAME=VALUE ...])` plays one scenario in that environment.
function(plays_nccl_test name scenario)
  add_test(NAME PlaysNccl.${name} COMMAND plays_nccl ${lanewise_plugin} ${scenario})
  set_tests_properties(PlaysNccl.${name} PROPERTIES ENVIRONMENT "${ARGN}" TIMEOUT 120)
endfunction()

plays_nccl_test(OpensAndClosesTwice twice)
plays_nccl_test(NeedsNoLogger without_logger)
plays_nccl_test(NeedsNoContext without_context)
plays_nccl_test(StaysInsideTheTable guarded_tables)
plays_nccl_test(LeavesConstantsAlone untouchable_constants)
plays_nccl_test(SurvivesMissingFinalizes unbalanced)
plays_nccl_test(OpensAThousandCommunicators a_thousand)
plays_nccl_test(OpensCommunicatorsConcurrently concurrently)
plays_nccl_test(WorksAfterFork after_fork)
plays_nccl_test(IsInertForAnUnknownMode inert LANEWISE_MODE=fast)
plays_nccl_test(IsInertForAnUnknownSetting inert LANEWISE_MOOD=off)
plays_nccl_test(TakesALogFileThatCannotBeOpened without_logger LANEWISE_LOG_FILE=/proc/none/log)
plays_nccl_test(TakesAUsersAlgorithmWithoutALogger without_logger NCCL_ALGO=Ring)
plays_nccl_test(TakesAUsersProtocolWithoutALogger without_logger NCCL_PROTO=LL)

# A sanitized plugin shares its runtime with the program and needs its libraries.
string(FIND "${CMAKE_CXX_FLAGS}" "-fsanitize=" lanewise_sanitizer)
if(lanewise_sanitizer EQUAL -1)
  foreach(check symbols needed glibc)
    add_test(NAME PluginFile.${check}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_exports.sh ${lanewise_plugin} ${check}
              ${PROJECT_SOURCE_DIR}/plugin/exports.map)
  endforeach()
endif()

# Tests of the built plugin: what it exports and needs, and a C program that plays NCCL to it.
set(lanewise_plugin $<TARGET_FILE:nccl-tuner-lanewise>)

find_package(nlohmann_json REQUIRED)
add_library(stock_tables STATIC stock_tables.cpp)
target_compile_definitions(stock_tables PRIVATE
  LANEWISE_SHARED_DIR="${PROJECT_SOURCE_DIR}/../shared")
target_link_libraries(stock_tables
  PUBLIC lanewise::core PRIVATE lanewise_flags nlohmann_json::nlohmann_json)

add_executable(plays_nccl plays_nccl.c tuner_player.c)
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
plays_nccl_test(LeavesConstantsAlone untouchable_constants LANEWISE_AGREE_MS=1)
plays_nccl_test(SurvivesMissingFinalizes unbalanced)
plays_nccl_test(OpensAThousandCommunicators a_thousand)
plays_nccl_test(OpensCommunicatorsConcurrently concurrently)
plays_nccl_test(WorksAfterFork after_fork)
plays_nccl_test(IsInertForAnUnknownMode inert LANEWISE_MODE=fast)
plays_nccl_test(IsInertForAnUnknownSetting inert LANEWISE_MOOD=off)
plays_nccl_test(IsInertForAProfileThatIsAFolder inert LANEWISE_PROFILE=/)
plays_nccl_test(IsInertForAProfileWithoutEnd inert LANEWISE_PROFILE=/dev/zero)
plays_nccl_test(IsInertForAMissingProfile inert LANEWISE_PROFILE=none.json)
plays_nccl_test(IsInertForAMissingMachine inert LANEWISE_MACHINE=none.xml)
plays_nccl_test(IsInertForAMachineThatIsAFolder inert LANEWISE_MACHINE=/)
plays_nccl_test(TakesALogFileThatCannotBeOpened without_logger LANEWISE_LOG_FILE=/proc/none/log)
plays_nccl_test(TakesAUsersAlgorithmWithoutALogger without_logger NCCL_ALGO=Ring)
plays_nccl_test(TakesAUsersProtocolWithoutALogger without_logger NCCL_PROTO=LL)

# The built plugin as a GoogleTest sees it; `lanewise_plugin_test(NAME)` builds tests/NAME.cpp.
function(lanewise_plugin_test name)
  lanewise_test(${name} stock_tables ${CMAKE_DL_LIBS} ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/plugin)
  target_compile_definitions(${name} PRIVATE LANEWISE_PLUGIN_FILE="${lanewise_plugin}")
  add_dependencies(${name} nccl-tuner-lanewise)
endfunction()

lanewise_plugin_test(control_test)
lanewise_plugin_test(tuner_choice_test LABEL shared)
lanewise_plugin_test(tuner_contract_test)

lanewise_test(consent_test lanewise::host)
target_sources(consent_test PRIVATE ${PROJECT_SOURCE_DIR}/plugin/consent.cpp)
target_include_directories(consent_test PRIVATE ${PROJECT_SOURCE_DIR}/plugin)
lanewise_test(log_test lanewise::host)
lanewise_test(nccl_environment_test lanewise::host)
lanewise_test(settings_test lanewise::host)

add_library(fake_nccl SHARED fake_nccl.c)
set_target_properties(fake_nccl PROPERTIES OUTPUT_NAME nccl SUFFIX .so.2)
target_link_libraries(fake_nccl PRIVATE lanewise_flags)
lanewise_test(answer_memory_test lanewise::host)
target_include_directories(answer_memory_test PRIVATE ${PROJECT_SOURCE_DIR}/plugin)
lanewise_test(nccl_library_test lanewise::host ${CMAKE_DL_LIBS})
target_compile_definitions(nccl_library_test PRIVATE
  LANEWISE_FAKE_NCCL="$<TARGET_FILE:fake_nccl>")
add_dependencies(nccl_library_test fake_nccl)

# A sanitized plugin shares its runtime with the program and needs its libraries.
string(FIND "${CMAKE_CXX_FLAGS}" "-fsanitize=" lanewise_sanitizer)
if(lanewise_sanitizer EQUAL -1)
  plays_nccl_test(WorksWithoutMemory without_memory LANEWISE_AGREE_MS=1)
  foreach(check symbols needed glibc)
    add_test(NAME PluginFile.${check}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_exports.sh ${lanewise_plugin} ${check}
              ${PROJECT_SOURCE_DIR}/plugin/exports.map)
  endforeach()
  if(NOT LANEWISE_HWLOC_IS_STATIC)
    # Built for development without .deps: run scripts/deps.sh first to have this checked.
    set_tests_properties(PluginFile.needed PROPERTIES
      SKIP_REGULAR_EXPRESSION "check_exports: needs libhwloc")
  endif()
endif()

add_test(NAME Readme.HoldsTheTableOfSettings
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_readme.sh $<TARGET_FILE:lanewise>
          ${PROJECT_SOURCE_DIR}/README.md)

# Tests of the environment layer: what a process starts with, and the commands that set it.
lanewise_test(environment_plan_test lanewise::core)
lanewise_test(environment_search_test lanewise::core)
lanewise_test(environment_standing_test lanewise::core)
lanewise_test(launch_plan_test lanewise::core)
lanewise_test(nccl_conf_test lanewise::host)
lanewise_test(plugin_library_test lanewise::host)
lanewise_test(profile_search_test lanewise::host)

# A profile of the bundled machine for tests of programs.
set(lanewise_test_machine ${PROJECT_SOURCE_DIR}/src/host/machines/two_sockets_8gpu.xml)
set(lanewise_test_profile ${CMAKE_CURRENT_BINARY_DIR}/best_is_16_channels.json)
add_executable(make_profile make_profile.cpp)
target_link_libraries(make_profile PRIVATE lanewise_flags lanewise::host)
add_test(NAME MakeProfile COMMAND make_profile ${lanewise_test_profile} ${lanewise_test_machine}
  2.30.7 NCCL_MIN_NCHANNELS=16)
set_tests_properties(MakeProfile PROPERTIES FIXTURES_SETUP lanewise_test_profile)

# One whose graph file is gone.
set(lanewise_graph_profile ${CMAKE_CURRENT_BINARY_DIR}/best_has_a_graph_file.json)
add_test(NAME MakeGraphProfile COMMAND make_profile ${lanewise_graph_profile}
  ${lanewise_test_machine} 2.30.7 NCCL_MIN_NCHANNELS=16 NCCL_GRAPH_FILE=/nowhere/graph.xml)
set_tests_properties(MakeGraphProfile PROPERTIES FIXTURES_SETUP lanewise_test_profile)

foreach(case exit_status not_found not_executable no_command no_separator bad_setting signal
    same_process words loads keeps keeps_conf env_evaluates env_docker env_systemd
    profile profile_setting profile_keeps profile_observe profile_elsewhere profile_missing
    profile_docker graph_docker graph_missing graph_kept)
  add_test(NAME Run.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_run.sh
    $<TARGET_FILE:lanewise> $<TARGET_FILE_DIR:nccl-tuner-lanewise> ${case}
    ${lanewise_test_profile} ${lanewise_test_machine})
  set_tests_properties(Run.${case} PROPERTIES FIXTURES_REQUIRED lanewise_test_profile)
endforeach()

# `plays_layer_test(TEST SCENARIO [NAME=VALUE ...])`: NCCL's net and env loaders in C.
foreach(layer net env)
  add_executable(plays_nccl_${layer} plays_nccl_${layer}.c layer_player.c)
  target_link_libraries(plays_nccl_${layer} PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(plays_nccl_${layer} PROPERTIES ENABLE_EXPORTS ON)
  add_dependencies(plays_nccl_${layer} nccl-tuner-lanewise)
endforeach()
function(plays_layer_test name scenario)
  set(layer net)
  if(scenario MATCHES "^env_")
    set(layer env)
  endif()
  add_test(NAME PlaysNcclLayers.${name} COMMAND plays_nccl_${layer} ${scenario})
  set(environment LD_LIBRARY_PATH=$<TARGET_FILE_DIR:nccl-tuner-lanewise>
    LANEWISE_MACHINE=${lanewise_test_machine} ${ARGN})
  set_tests_properties(PlaysNcclLayers.${name} PROPERTIES ENVIRONMENT "${environment}"
    FIXTURES_REQUIRED lanewise_test_profile)
endfunction()

set(profile LANEWISE_PROFILE=${lanewise_test_profile})
plays_layer_test(NetDeclinesInEachVersion declines_each)
plays_layer_test(NetDeclinesToEachRelease each_release)
plays_layer_test(NetAppliesTheEnvironmentOnRequest net_applies ${profile} LANEWISE_APPLY_ENV=1)
plays_layer_test(NetKeepsTheUsersValue net_keeps ${profile} LANEWISE_APPLY_ENV=1
  NCCL_MIN_NCHANNELS=4)
plays_layer_test(NetLeavesTheEnvironmentUnasked net_leaves ${profile})
plays_layer_test(NetDeclinesWithABadSetting net_leaves LANEWISE_MOOD=1 LANEWISE_APPLY_ENV=1)
plays_layer_test(EnvAnswersThroughV1 env_v1 ${profile})
plays_layer_test(EnvAnswersThroughV2 env_v2 ${profile})
plays_layer_test(EnvKeepsTheUsersValue env_keeps ${profile} NCCL_MIN_NCHANNELS=4)
plays_layer_test(EnvRefusesAnotherReleasesEnvironment env_other_release ${profile})
plays_layer_test(EnvIsInertWithoutItsProfile env_inert LANEWISE_PROFILE=/proc/none.json)
plays_layer_test(EnvIsInertForABadSetting env_inert LANEWISE_MOOD=1)
set(without_file LANEWISE_PROFILE=${lanewise_graph_profile})
plays_layer_test(NetAppliesNoEnvironmentWhoseFileIsGone net_without_file ${without_file}
  LANEWISE_APPLY_ENV=1)
plays_layer_test(EnvAnswersNoEnvironmentWhoseFileIsGone env_without_file ${without_file})
plays_layer_test(EnvAnswersNothingWhenOff env_off ${profile} LANEWISE_MODE=off)
plays_layer_test(EnvAnswersManyThreads env_threads ${profile})

# lanewise graph.
lanewise_test(graph_file_test lanewise::host LABEL shared)
target_sources(graph_file_test PRIVATE nccl_graph_reader.cpp)
foreach(case writes prints refuses missing)
  add_test(NAME Graph.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_graph.sh
    $<TARGET_FILE:lanewise> ${case} ${lanewise_test_machine})
endforeach()

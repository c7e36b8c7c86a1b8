# The environment layer inside NCCL.
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
plays_layer_test(NetAppliesTheBaseEnvironmentWithoutAProfile net_applies_base
  LANEWISE_PROFILE=none LANEWISE_APPLY_ENV=1)
plays_layer_test(NetKeepsTheUsersValue net_keeps ${profile} LANEWISE_APPLY_ENV=1
  NCCL_MIN_NCHANNELS=4)
plays_layer_test(NetLeavesTheEnvironmentUnasked net_leaves ${profile})
plays_layer_test(NetDeclinesWithABadSetting net_leaves LANEWISE_MODE=fast LANEWISE_APPLY_ENV=1)
plays_layer_test(EnvAnswersThroughV1 env_v1 ${profile})
plays_layer_test(EnvAnswersThroughV2 env_v2 ${profile})
plays_layer_test(EnvKeepsTheUsersValue env_keeps ${profile} NCCL_MIN_NCHANNELS=4)
plays_layer_test(EnvRefusesAnotherReleasesEnvironment env_other_release ${profile})
plays_layer_test(EnvIsInertWithoutItsProfile env_inert LANEWISE_PROFILE=/proc/none.json)
plays_layer_test(EnvIsInertForABadSetting env_inert LANEWISE_MODE=fast)
set(without_file LANEWISE_PROFILE=${lanewise_graph_profile})
plays_layer_test(NetAppliesNoEnvironmentWhoseFileIsGone net_without_file ${without_file}
  LANEWISE_APPLY_ENV=1)
plays_layer_test(EnvAnswersNoEnvironmentWhoseFileIsGone env_without_file ${without_file})
plays_layer_test(EnvAnswersNothingWhenOff env_off ${profile} LANEWISE_MODE=off)
plays_layer_test(EnvAnswersManyThreads env_threads ${profile})
plays_layer_test(EnvAnswersTheBaseEnvironmentWithoutAProfile env_base LANEWISE_PROFILE=none)
plays_layer_test(EnvAnswersTheBaseEnvironmentWithAnotherReleasesProfile env_base ${profile})
plays_layer_test(EnvAnswersEachCommunicatorItsBaseEnvironment env_base_of_each
  LANEWISE_PROFILE=none LANEWISE_AGREE_MS=1)
plays_layer_test(EnvAnswersOneBaseEnvironmentToAnOlderNccl env_base_of_all
  LANEWISE_PROFILE=none LANEWISE_AGREE_MS=1)
plays_layer_test(EnvKeepsTheUsersThresholds env_base_kept LANEWISE_PROFILE=none
  "NCCL_THREAD_THRESHOLDS=1 1 1 1 1 1")
plays_layer_test(EnvAnswersNoEnvironmentWhereItObserves env_observes ${profile}
  LANEWISE_MODE=observe)

# Tests of the environment layer: what a process starts with, and the commands that set it.
lanewise_test(environment_plan_test lanewise::core)
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

foreach(case exit_status not_found not_executable no_command no_separator bad_setting signal
    same_process words loads keeps keeps_conf env_evaluates env_docker env_systemd
    profile profile_setting profile_keeps profile_observe profile_elsewhere profile_missing
    profile_docker)
  add_test(NAME Run.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_run.sh
    $<TARGET_FILE:lanewise> $<TARGET_FILE_DIR:nccl-tuner-lanewise> ${case}
    ${lanewise_test_profile} ${lanewise_test_machine})
  set_tests_properties(Run.${case} PROPERTIES FIXTURES_REQUIRED lanewise_test_profile)
endforeach()

# Tests of the environment layer: what a process starts with, and the commands that set it.
lanewise_test(environment_plan_test lanewise::core)
lanewise_test(launch_plan_test lanewise::core)
lanewise_test(nccl_conf_test lanewise::host)
lanewise_test(plugin_library_test lanewise::host)
foreach(case exit_status not_found not_executable no_command no_separator bad_setting signal
    same_process words loads keeps keeps_conf env_evaluates env_docker env_systemd)
  add_test(NAME Run.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_run.sh
    $<TARGET_FILE:lanewise> $<TARGET_FILE_DIR:nccl-tuner-lanewise> ${case})
endforeach()

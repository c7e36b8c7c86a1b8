# `lanewise run`, `env`, `graph` and `stats`.
foreach(case exit_status not_found not_executable no_command no_separator bad_setting unknown_name signal
    same_process words loads base base_of_each base_env keeps keeps_conf env_evaluates env_docker env_docker_settings env_systemd nccl
    profile profile_setting profile_keeps profile_engine profile_refused profile_observe profile_elsewhere profile_missing
    profile_docker graph_docker graph_missing graph_kept
    word_before without_proc profile_none profile_none_docker docker_colon
    tuner_stale tuner_copy other_copy own_copy conf_mode)
  add_test(NAME Run.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_run.sh
    $<TARGET_FILE:lanewise> $<TARGET_FILE_DIR:nccl-tuner-lanewise> ${case}
    ${lanewise_test_profile} ${lanewise_test_machine})
  set_tests_properties(Run.${case} PROPERTIES FIXTURES_REQUIRED lanewise_test_profile
    SKIP_RETURN_CODE 77)
endforeach()
without_sanitizer(Run.without_proc)

foreach(case writes prints numbers refuses missing)
  add_test(NAME Graph.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_graph.sh
    $<TARGET_FILE:lanewise> ${case} ${lanewise_test_machine})
endforeach()

# Each runs one case of check_stats.sh on counters that a played NCCL made, in a
# /dev/shm of its own.
foreach(case table json prometheus removes pid nobody other_user unknown_pid watch)
  add_test(NAME Stats.${case}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_stats.sh $<TARGET_FILE:lanewise>
            $<TARGET_FILE:plays_nccl> ${lanewise_plugin} ${case})
  set_tests_properties(Stats.${case} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
endforeach()
add_test(NAME Graph.RefusesAnEmptyName COMMAND ${check_output}
  2 "--output: expected a value, found nothing"
  $<TARGET_FILE:lanewise> graph --machine ${lanewise_test_machine} -o "")
add_test(NAME Stats.RefusesANumberBelowZero COMMAND ${check_output}
  2 "-1: expected the number of a process" $<TARGET_FILE:lanewise> stats -1)
add_test(NAME Stats.NamesAFolderThatIsNotThere COMMAND ${check_output}
  2 "lanewise: /nonexist: cannot be read: No such file" $<TARGET_FILE:lanewise> stats --folder /nonexist)
add_test(NAME Stats.RefusesAFileAsItsFolder COMMAND ${check_output}
  2 "cannot be read: Not a directory" $<TARGET_FILE:lanewise> stats --json
  --folder ${check_output})
add_test(NAME Run.DirectNeedsSizes COMMAND ${check_output}
  2 "--direct: expected a profile that holds direct sizes for this machine"
  env LANEWISE_MACHINE=${lanewise_test_machine} $<TARGET_FILE:lanewise> run --profile none --direct -- true)
add_test(NAME Run.DirectBringsItsLibraries COMMAND ${check_output}
  0 "/liblanewise-nccl.so
export SGLANG_NCCL_SO_PATH="
  env LANEWISE_MACHINE=${lanewise_test_machine} LANEWISE_DIRECT=1:65536 $<TARGET_FILE:lanewise> env --profile none --direct)
add_test(NAME Run.DirectTakesTheSizesOfAComparison COMMAND
  ${CMAKE_CURRENT_SOURCE_DIR}/direct/check_ranges.sh $<TARGET_FILE:lanewise> ${lanewise_test_machine})

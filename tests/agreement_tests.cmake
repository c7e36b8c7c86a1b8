lanewise_test(agreement_search_test lanewise::core)
# Millions of steps: a second with optimisation, a minute without.
target_compile_options(agreement_search_test PRIVATE -O2)
lanewise_test(agreement_test lanewise::host)
lanewise_test(agreement_segment_test lanewise::host)
target_include_directories(agreement_test PRIVATE ${PROJECT_SOURCE_DIR}/src/host)
target_include_directories(agreement_segment_test PRIVATE ${PROJECT_SOURCE_DIR}/src/host)
lanewise_test(agreement_kill_test lanewise::host)
lanewise_test(process_identity_test lanewise::host)

add_library(fake_cuda SHARED fake_cuda.c)
set_target_properties(fake_cuda PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1)
target_link_libraries(fake_cuda PRIVATE lanewise_flags)
target_link_options(fake_cuda PRIVATE -Wl,-soname,libcuda.so.1)
lanewise_test(gpu_of_rank_test lanewise::host ${CMAKE_DL_LIBS})
target_compile_definitions(gpu_of_rank_test PRIVATE
  LANEWISE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
add_dependencies(gpu_of_rank_test fake_cuda)
lanewise_test(counter_key_test lanewise::host)
lanewise_test(live_counters_test lanewise::host)

# Each runs one case of check_stats.sh on counters that a played NCCL made, in a
# /dev/shm of its own.
foreach(case table json prometheus removes pid nobody unknown_pid watch)
  add_test(NAME Stats.${case}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_stats.sh $<TARGET_FILE:lanewise>
            $<TARGET_FILE:plays_nccl> ${lanewise_plugin} ${case})
  set_tests_properties(Stats.${case} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 60)
endforeach()
add_test(NAME Stats.NamesAFolderThatIsNotThere COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_output.sh
  2 "lanewise: /nonexist: cannot be read: No such file" $<TARGET_FILE:lanewise> stats --folder /nonexist)
add_test(NAME Stats.RefusesAFileAsItsFolder COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_output.sh
  2 "cannot be read: Not a directory" $<TARGET_FILE:lanewise> stats --json
  --folder ${CMAKE_CURRENT_SOURCE_DIR}/check_output.sh)

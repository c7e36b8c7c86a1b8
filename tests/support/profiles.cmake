# A profile of the bundled machine for tests of programs.
set(lanewise_test_profile ${PROJECT_BINARY_DIR}/tests/best_is_16_channels.json)
add_executable(make_profile ${PROJECT_SOURCE_DIR}/tests/cli/make_profile.cpp)
target_link_libraries(make_profile PRIVATE lanewise_flags lanewise::host)
add_test(NAME MakeProfile COMMAND make_profile ${lanewise_test_profile} ${lanewise_test_machine}
  2.30.7 8 NCCL_MIN_NCHANNELS=16)
set_tests_properties(MakeProfile PROPERTIES FIXTURES_SETUP lanewise_test_profile)

# For the two ranks of C programs that play the oldest NCCL of tuner v6.
set(lanewise_pair_profile ${PROJECT_BINARY_DIR}/tests/pair.json)
add_test(NAME MakePairProfile COMMAND make_profile ${lanewise_pair_profile} ${lanewise_test_machine}
  2.30.3 2)
set_tests_properties(MakePairProfile PROPERTIES FIXTURES_SETUP lanewise_test_profile)

# One whose graph file is gone.
set(lanewise_graph_profile ${PROJECT_BINARY_DIR}/tests/best_has_a_graph_file.json)
add_test(NAME MakeGraphProfile COMMAND make_profile ${lanewise_graph_profile}
  ${lanewise_test_machine} 2.30.7 8 NCCL_MIN_NCHANNELS=16 NCCL_GRAPH_FILE=/nowhere/graph.xml)
set_tests_properties(MakeGraphProfile PROPERTIES FIXTURES_SETUP lanewise_test_profile)


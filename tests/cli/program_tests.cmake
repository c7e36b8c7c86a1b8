# Tests of what the programs have in common: `program_refuses_test(NAME TEXT COMMAND ...)` expects
# status 2 and the text.
function(program_refuses_test name text)
  add_test(NAME Program.${name}
    COMMAND ${check_output} 2 ${text} ${ARGN})
endfunction()
program_refuses_test(NamesAnUnknownCommand "lanewise: nosuch: expected one of backends, doctor, env, "
  $<TARGET_FILE:lanewise> nosuch)
program_refuses_test(NamesAnUnknownCommandThatIsAskedForHelp "lanewise: nosuch: expected one of backends, doctor, env,"
  $<TARGET_FILE:lanewise> nosuch --help)
program_refuses_test(NamesAnOptionBeforeACommand "lanewise: --fast: expected one of backends, doctor, env,"
  $<TARGET_FILE:lanewise> --fast)
program_refuses_test(NamesAnUnknownPartOfACommand
  "lanewise: nosuch: expected profile with one of show, check, convert, or --help"
  $<TARGET_FILE:lanewise> profile nosuch)
program_refuses_test(AsksForACommand "A subcommand is required" $<TARGET_FILE:lanewise>)
program_refuses_test(NamesAnUnknownWordAfterACommand "not expected: nosuch"
  $<TARGET_FILE:lanewise> version nosuch)
add_test(NAME Program.PrintsTheHelpOfACommand COMMAND
  ${check_output} 0 "Usage: lanewise profile" $<TARGET_FILE:lanewise> profile --help)
if(TARGET lanewise-bench)
  program_refuses_test(NamesACommandThatTheBenchDoesNotHave
    "lanewise-bench: nosuch: expected one of compare, decide, devices, environments, links,"
    $<TARGET_FILE:lanewise-bench> nosuch)
  # The bench for tests is built without links.
  program_refuses_test(NamesACommandThatIsNotBuiltIn
    "lanewise-bench: links: expected one of compare, decide, devices, environments, replay, sweep,"
    $<TARGET_FILE:fake-bench> links --help)
endif()

foreach(case names_what_is_missing measures for_all_gpus for_a_gpu_that_nvcc_does_not_know
    without_bench without_gpus fails)
  add_test(NAME Quickstart.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_quickstart.sh
    ${PROJECT_SOURCE_DIR}/scripts/quickstart.sh ${case})
endforeach()

add_test(NAME Readme.HoldsTheSettingsAndLinksToWhatIsThere
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_readme.sh $<TARGET_FILE:lanewise>
          ${PROJECT_SOURCE_DIR})

# Output that does not arrive is a failure, whatever printed it.
function(full_output_test name)
  foreach(kind full closed pipe)
    add_test(NAME FullOutput.${name}.${kind}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_full_output.sh ${kind} ${ARGN})
    set_tests_properties(FullOutput.${name}.${kind} PROPERTIES FIXTURES_REQUIRED lanewise_test_profile
      ENVIRONMENT LANEWISE_MACHINE=${lanewise_test_machine})
  endforeach()
endfunction()
foreach(words "topology" "topology --json" "explain" "explain --json" "graph" "settings" "version" "env"
    "stats" "stats --json" "stats --prometheus" "--help" "explain --help")
  string(REPLACE " " ";" arguments "${words}")
  string(REPLACE " " "" name "${words}")
  full_output_test(${name} $<TARGET_FILE:lanewise> ${arguments})
endforeach()
full_output_test(show $<TARGET_FILE:lanewise> profile show ${lanewise_test_profile})
full_output_test(check $<TARGET_FILE:lanewise> profile check ${lanewise_test_profile})
full_output_test(convert $<TARGET_FILE:lanewise> profile convert ${lanewise_test_profile})

add_test(NAME Program.TellsItsVersionAndCommit
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_version.sh $<TARGET_FILE:lanewise> ${PROJECT_SOURCE_DIR})
add_test(NAME Program.TellsNoCommitWithoutARepository
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_version.sh none ${PROJECT_SOURCE_DIR})

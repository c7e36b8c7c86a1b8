# `explain` as a black box, on the machine that ships with it and on a table of ours.
set(lanewise_explained --machine src/host/machines/two_sockets_8gpu.xml)
# `explain_test(NAME GOLDEN [SETTING NAME=VALUE ...] ARGUMENTS ...)`
function(explain_test name golden)
  cmake_parse_arguments(PARSE_ARGV 2 explain "" "" "SETTING;ARGUMENTS")
  add_test(NAME Explain.${name}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_golden.sh ${CMAKE_CURRENT_SOURCE_DIR}/golden/${golden}
      env ${explain_SETTING} $<TARGET_FILE:lanewise> explain ${explain_UNPARSED_ARGUMENTS}
      ${explain_ARGUMENTS}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
explain_test(PrintsATable explain_bundled.txt ${lanewise_explained})
explain_test(PrintsJson explain_bundled.json ${lanewise_explained} --json --bytes 2048,14336,8388608)
explain_test(TakesAPriceTable explain_table.txt --table tests/cli/golden/costs_host_memory.json
  --channels 4 --tokens 1,2,4,8,16)
explain_test(KnowsReleasesWithoutPrices explain_2.21.json ${lanewise_explained} --nccl 2.21.5
  --json --hidden 4096 --tokens 1)

# Both layers, with a profile whose best environment has two variables.
set(lanewise_layers ARGUMENTS ${lanewise_explained} --profile tests/cli/golden/two_layers_profile.json)
explain_test(ShowsBothLayers explain_layers.txt ${lanewise_layers} --tokens 1,4,8,64)
explain_test(ShowsBothLayersInJson explain_layers.json ${lanewise_layers} --json --tokens 1,64)
explain_test(NamesTheUsersVariableInTheWay explain_layers_hindered.txt
  SETTING NCCL_MIN_NCHANNELS=4 ${lanewise_layers} --tokens 4)
explain_test(SaysThatTheBestEnvironmentIsInForce explain_layers_best.txt
  SETTING NCCL_MIN_NCHANNELS=16 NCCL_P2P_LEVEL=SYS ${lanewise_layers} --tokens 4)
explain_test(CountsWhatTheEnvPluginAnswers explain_layers_carried.txt
  SETTING NCCL_ENV_PLUGIN=lanewise ${lanewise_layers} --tokens 4)
explain_test(CarriesNothingForAnotherNccl explain_layers_2.28.9.json
  SETTING NCCL_ENV_PLUGIN=lanewise ${lanewise_layers} --tokens 4 --json --nccl 2.28.9)

# `explain_refuses_test(NAME MESSAGE ARGUMENTS ...)`: status 2 and a message that says why.
function(explain_refuses_test name message)
  add_test(NAME Explain.Refuses${name}
    COMMAND ${check_output} 2 ${message}
      $<TARGET_FILE:lanewise> explain ${ARGN}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
explain_refuses_test(AnUnknownVersion "--nccl 2.x: expected a version" --nccl 2.x)
explain_refuses_test(AnUnknownType "expected bf16, fp16, fp32 or fp8" --dtype int3)
explain_refuses_test(AMissingTable "nowhere.json" --table nowhere.json)
explain_refuses_test(ATableThatIsNone "expected" --table tests/cli/golden/explain_bundled.json)
explain_refuses_test(OtherRanksThanTheTables "costs of 8 ranks: expected --ranks"
  --table tests/cli/golden/costs_host_memory.json --ranks 4)
explain_refuses_test(ASizeOutsideTheTable "no cost of 1024 bytes: expected a size from 2048"
  --table tests/cli/golden/costs_host_memory.json --bytes 1024)
explain_refuses_test(AProfileWithoutAMachine "expected --machine FILE"
  --table tests/cli/golden/costs_host_memory.json --profile tests/cli/golden/two_layers_profile.json)
explain_refuses_test(OneRank "ranks" --ranks 1)

# Where no machine is named and here is no GPU.
function(explain_without_gpu_test name status text)
  add_test(NAME Explain.${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_without_gpu.sh
    $<TARGET_FILE:lanewise> ${status} ${text} explain ${ARGN}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(Explain.${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()
set(lanewise_no_gpu "No GPU here: the machine that ships with the tool.")
explain_without_gpu_test(SaysThatItShowsAnotherMachine 0 "${lanewise_no_gpu}")
explain_without_gpu_test(SaysInJsonThatItShowsAnotherMachine 0 "\"remarks\":[\"${lanewise_no_gpu}\""
  --json)
explain_without_gpu_test(RefusesAProfileOfNoMachine 2 "two_layers_profile.json: expected --machine FILE"
  --profile tests/cli/golden/two_layers_profile.json)
explain_without_gpu_test(RefusesTheProfileOfTheSettingWithoutAMachine 2
  "LANEWISE_PROFILE=tests/cli/golden/two_layers_profile.json: expected --machine FILE")
set_tests_properties(Explain.RefusesTheProfileOfTheSettingWithoutAMachine PROPERTIES
  ENVIRONMENT LANEWISE_PROFILE=tests/cli/golden/two_layers_profile.json)

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
explain_test(TimesAStepOfAModel explain_model.txt ${lanewise_explained} --model deepseek-v3 --tokens 1,8)
explain_test(TimesAStepInJson explain_model.json ${lanewise_explained} --json --model qwen3-32b --tokens 4)
explain_test(TakesAPriceTable explain_table.txt --table tests/cli/golden/costs_host_memory.json
  --channels 4 --tokens 1,2,4,8,16)
explain_test(KnowsReleasesWithoutPrices explain_2.21.json ${lanewise_explained} --nccl 2.21.5
  --json --hidden 4096 --tokens 1)
explain_test(KeepsSimpleOnLinksOfFourLanes explain_gen3_x4.txt --bytes 14336,98304,131072,163840
  --machine tests/data/machines/gen3_x4_4gpu.xml)
explain_test(KeepsSimpleOnRisers explain_gen3_x1.txt --bytes 14336,57344,262144
  --machine tests/data/machines/gen3_x1_8gpu.xml)

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

# What NCCL 2.31 took away: no gain of more channels but in the base environment.
set(lanewise_lowered ARGUMENTS ${lanewise_explained} --nccl 2.32.3 --channels 4 --tokens 1,2,4,8,16)
explain_test(PromisesNothingThatTheReleaseCannotGive explain_2.32.3.txt ${lanewise_lowered})
explain_test(ShowsTheGainInTheBaseEnvironment explain_2.32.3_base.txt
  SETTING NCCL_ENV_PLUGIN=lanewise ${lanewise_lowered})

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

# `explain_says_test(NAME TEXT [SETTING NAME=VALUE ...] ARGUMENTS ...)`
function(explain_says_test name text)
  cmake_parse_arguments(PARSE_ARGV 2 explain "" "" "SETTING;ARGUMENTS")
  add_test(NAME Explain.${name} COMMAND ${check_output} 0 ${text}
    env ${explain_SETTING} $<TARGET_FILE:lanewise> explain ${explain_ARGUMENTS}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
endfunction()
set(lanewise_four ARGUMENTS ${lanewise_explained} --gpus 0,1,2,3 --bytes 14K)

# Which GPUs the ranks have: four of one socket are another machine than four across two.
explain_says_test(TakesTheFirstGpus "its search would find 2 channels of 24 GB/s"
  ARGUMENTS ${lanewise_explained} --ranks 4)
explain_says_test(SaysWhichGpusItTookAndWhatOthersGet
  "--gpus names others: 0,1,4,5 would get no ring."
  ARGUMENTS ${lanewise_explained} --ranks 4)
explain_says_test(TakesTheGpusThatAreNamed "its search would find no ring"
  ARGUMENTS ${lanewise_explained} --gpus 0,1,4,5)
explain_says_test(NamesGpusByTheNumbersOfTheFile "2 ranks"
  ARGUMENTS --machine tests/cli/machines/dev_subset.xml --gpus 6,10)
explain_says_test(ObeysCudaVisibleDevices "CUDA_VISIBLE_DEVICES: GPUs 4,5,0,1."
  SETTING CUDA_VISIBLE_DEVICES=4,5,0,1 LANEWISE_MACHINE=${lanewise_test_machine})
explain_says_test(LeavesUuidsInCudaVisibleDevicesOpen "names GPUs by UUID, which is not read"
  SETTING CUDA_VISIBLE_DEVICES=GPU-8a2f LANEWISE_MACHINE=${lanewise_test_machine})
explain_says_test(DoesNotAskCudaAboutAnotherMachine "8 ranks, "
  SETTING CUDA_VISIBLE_DEVICES=0,1 ARGUMENTS ${lanewise_explained})
explain_says_test(SaysThatRanksShareGpus "16 ranks on 8 GPUs: ranks share GPUs"
  ARGUMENTS ${lanewise_explained} --ranks 16)
explain_says_test(StandsAsideOnTwoHosts "more than one node"
  ARGUMENTS --machine tests/cli/machines/two_hosts.xml)
explain_says_test(TakesTheTableOfNvidiaSmi "topo_matrix.smi, 4 ranks"
  ARGUMENTS --machine tests/cli/machines/topo_matrix.smi)

# NCCL's own settings, as it obeys them.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/simple.conf "NCCL_PROTO=Simple\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/observe.conf "LANEWISE_MODE=observe\n")
explain_says_test(KnowsWhatNcclPicksByItself "14336  ring/ll/" ${lanewise_four})
explain_says_test(ObeysNcclProto "14336  tree/simple/" SETTING NCCL_PROTO=Simple ${lanewise_four})
explain_says_test(ObeysNcclAlgo "14336  tree/ll/" SETTING NCCL_ALGO=allreduce:tree ${lanewise_four})
explain_says_test(ObeysNcclsConfigurationFile "14336  tree/simple/"
  SETTING NCCL_CONF_FILE=${CMAKE_CURRENT_BINARY_DIR}/simple.conf ${lanewise_four})
explain_says_test(ObeysOurSettingsInNcclsConfigurationFile "LANEWISE_MODE=observe: NCCL keeps"
  SETTING NCCL_CONF_FILE=${CMAKE_CURRENT_BINARY_DIR}/observe.conf ${lanewise_four})
explain_says_test(DividesASharedUplinkWithoutPeerAccess "its search would find 1 channel of 5 GB/s"
  ARGUMENTS --machine tests/cli/machines/geforce_switch.xml)
explain_says_test(MarksTheSearchAsAnEstimate "by our estimate NCCL's search finds no ring"
  ARGUMENTS ${lanewise_explained})
explain_says_test(SaysThatAReleaseIsNewerThanAnyKnown "NCCL 2.99.1 is newer than any that is known"
  ARGUMENTS ${lanewise_explained} --nccl 2.99.1)
explain_says_test(TakesSizesWithSuffixes "\"bytes\":57344,"
  ARGUMENTS ${lanewise_explained} --json --bytes 14K,56KiB,1M)
explain_says_test(TakesNoneForNoProfile "needs a profile of this machine"
  ARGUMENTS ${lanewise_explained} --profile none)

explain_refuses_test(AnAlgorithmThatNcclRefuses "refuses the word \"rings\"" ${lanewise_explained})
set_tests_properties(Explain.RefusesAnAlgorithmThatNcclRefuses PROPERTIES ENVIRONMENT NCCL_ALGO=rings)
explain_refuses_test(AnNcclThatLoadsNoPlugin "no NCCL before 2.21.5 loads the plugin" --nccl 2.20.5)
explain_refuses_test(AReleaseThatThereIsNot "there is no such NCCL" --nccl 2.25.9)
explain_refuses_test(AGpuThatIsNotThere "no GPU 8 on " ${lanewise_explained} --gpus 0,8)
explain_refuses_test(AGpuTwice "expected each GPU once" ${lanewise_explained} --gpus 0,0)
explain_refuses_test(MoreGpusThanRanks "--gpus names 4 GPUs for 2 ranks"
  ${lanewise_explained} --gpus 0,1,2,3 --ranks 2)
explain_refuses_test(AnEmptyItemOfAList "--bytes 1,,2: expected a list without an empty item"
  --bytes 1,,2)
explain_refuses_test(AnEmptyValue "--machine: 1 required FILE missing" --machine=)
explain_refuses_test(ASizeThatNoNumberHolds "times --tokens 1099511627776: expected at most"
  --hidden 1099511627776 --tokens 1099511627776)
explain_refuses_test(ASizeThatIsNone "--bytes 14X: expected 1 to" --bytes 14X)

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

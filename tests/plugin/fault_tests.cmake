# Ranks at fault, played as processes to the built plugin: none may be on another choice than the
# others. `faulty_ranks_test(NAME RANKS REGEX [RANK:FAULT ..])`, see plays_ranks.c.
add_executable(plays_ranks plays_ranks.c faulty_libc.c tuner_player.c)
target_link_libraries(plays_ranks PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})
# The plugin shall find the C library of this program.
set_target_properties(plays_ranks PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(plays_ranks nccl-tuner-lanewise)

function(faulty_ranks_test name ranks regex)
  add_test(NAME FaultyRanks.${name}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_ranks.sh ${regex}
            $<TARGET_FILE:plays_ranks> ${lanewise_plugin} ${ranks} ${ARGN})
  set_tests_properties(FaultyRanks.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 30
    LABELS faults)
endfunction()

set(all_apply "applied 3, stock 0, died 0, warned 0")
set(all_stock "applied 0, stock 3, died 0, warned 3")
set(no_waiting all:LANEWISE_AGREE_MS=60000)
set(short_wait all:LANEWISE_AGREE_MS=150)

faulty_ranks_test(ApplyWhereThereIsNoFault 3 ${all_apply} ${no_waiting})
faulty_ranks_test(ApplyAlsoAsEight 8 "applied 8, stock 0, died 0" ${no_waiting})
faulty_ranks_test(ApplyOnANoexecMount 3 ${all_apply} ${no_waiting} all:shm=noexec)
faulty_ranks_test(ApplyWhileTheClockStepsBack 3 ${all_apply} all:LANEWISE_AGREE_MS=5000 all:clock=back)
faulty_ranks_test(GiveUpWhileTheClockStepsBack 3 "applied 0, stock 2, died 1" ${short_wait}
  all:clock=back 1:killed)
foreach(kind full absent read_only)
  faulty_ranks_test(AllHave_${kind}_SharedMemory 3 ${all_stock} ${no_waiting} all:shm=${kind})
  faulty_ranks_test(OneHas_${kind}_SharedMemory 3 ${all_stock} ${short_wait} 1:shm=${kind})
endforeach()
faulty_ranks_test(OneHasItsOwnSharedMemoryAndIsWaitedForOnce 3 ${all_stock}
  all:LANEWISE_AGREE_MS=2000 1:shm=private all:communicators=6)
foreach(kind link directory fifo foreign)
  faulty_ranks_test(Find_${kind}_InTheSegmentsPlace 3 ${all_stock} ${no_waiting} all:name=${kind})
endforeach()
faulty_ranks_test(ArriveApart 3 ${all_apply} ${no_waiting} 1:delay_ms=30 2:delay_ms=200)
faulty_ranks_test(ArriveTooLate 3 ${all_stock} all:LANEWISE_AGREE_MS=40 2:delay_ms=250)
faulty_ranks_test(LoseOneBeforeInit 3 "applied 0, stock 2, died 1, warned 2" ${short_wait} 1:killed)
faulty_ranks_test(HaveOneThatObserves 3 "applied 0, stock 3, died 0" ${no_waiting}
  1:LANEWISE_MODE=observe)
faulty_ranks_test(HaveOneThatIsOff 3 "applied 0, stock 3, died 0, warned 2" ${no_waiting}
  1:LANEWISE_MODE=off)
faulty_ranks_test(HaveOneWithABadSetting 3 ${all_stock} ${no_waiting} 1:LANEWISE_STATS=x)
faulty_ranks_test(HaveOneWithAnUnknownName 3 "applied 3, stock 0, died 0, warned 1" ${no_waiting}
  1:LANEWISE_VERSION=1)
faulty_ranks_test(HaveOneWithAnotherEnvironment 3 ${all_stock} ${no_waiting}
  1:NCCL_P2P_LEVEL=SYS)
faulty_ranks_test(HaveOneWithOtherLimits 3 ${all_stock} ${no_waiting} 1:NCCL_MIN_NCHANNELS=16)
faulty_ranks_test(HaveOneWithAnotherMachine 3 ${all_stock} ${no_waiting}
  1:LANEWISE_MACHINE=${PROJECT_SOURCE_DIR}/src/host/machines/two_sockets_8gpu.xml)
faulty_ranks_test(HaveOneWithAnEndlessProfile 3 ${all_stock} ${no_waiting}
  1:LANEWISE_PROFILE=/dev/zero)
faulty_ranks_test(HaveOneWithAFolderForAProfile 3 ${all_stock} ${no_waiting} 1:LANEWISE_PROFILE=/)
# Profiles as they are found: the reader may neither wait nor swallow them whole.
set(broken ${CMAKE_CURRENT_BINARY_DIR}/broken_profiles)
file(MAKE_DIRECTORY ${broken})
file(WRITE ${broken}/truncated.json "{\"schema_version\": 1, \"fingerprint\": \"")
execute_process(COMMAND sh -c "test -p fifo || mkfifo fifo; truncate -s 1G gigabyte.json
  printf '{\"schema_version\": 1, \"machine\": \"\\377\"}' > not_utf8.json" WORKING_DIRECTORY ${broken})
foreach(profile fifo truncated.json gigabyte.json not_utf8.json)
  faulty_ranks_test(HaveOneWithTheProfile_${profile} 3 ${all_stock} ${no_waiting}
    1:LANEWISE_PROFILE=${broken}/${profile})
endforeach()
faulty_ranks_test(HaveOneWithoutSys 3 "applied (3, stock 0|0, stock 3), died 0" ${no_waiting}
  1:sys=absent)
faulty_ranks_test(HaveNoSys 3 ${all_apply} ${no_waiting} all:sys=absent)
# Whatever the machine is, discovering it decides nothing: the model needs the costs alone.
faulty_ranks_test(HaveASysThatFails 3 ${all_apply} ${no_waiting} all:sys=failing)
faulty_ranks_test(HaveOneWithASysThatFails 3 "applied (3, stock 0|0, stock 3), died 0"
  ${no_waiting} 1:sys=failing)
# A look into /sys that takes longer than ranks wait for one another: all late are not late.
faulty_ranks_test(AllHaveASlowSys 3 ${all_apply} all:LANEWISE_AGREE_MS=1000 all:sys_delay_ms=1200)
faulty_ranks_test(OneHasASlowSys 3 ${all_stock} ${short_wait} 1:sys_delay_ms=600)
# Costs that differ by rank, where they leave NCCL's own pick alone.
faulty_ranks_test(HavePricesOfTheirOwn 3 ${all_apply} ${no_waiting} 1:costs=20 2:costs=-20)
faulty_ranks_test(HavePricesOfTheirOwnAsEight 8 "applied 8, stock 0, died 0, warned 0" ${no_waiting}
  1:costs=20 2:costs=-20 3:costs=1 4:costs=-1 5:costs=5 6:costs=-5 7:costs=12)
faulty_ranks_test(MayDifferInTheirLog 3 ${all_apply} ${no_waiting} 1:LANEWISE_LOG=off
  2:LANEWISE_STATS=0)

# `gpu_group_test(NAME BUSES CHANNELS)`, see check_gpu_groups.sh.
function(gpu_group_test name buses channels)
  add_test(NAME GpuGroups.${name}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_gpu_groups.sh $<TARGET_FILE:lanewise>
            $<TARGET_FILE:plays_ranks> ${lanewise_plugin} $<TARGET_FILE:fake_cuda>
            ${PROJECT_SOURCE_DIR}/src/host/machines/two_sockets_8gpu.xml ${buses} ${channels})
  set_tests_properties(GpuGroups.${name} PROPERTIES TIMEOUT 60)
endfunction()
gpu_group_test(TwoOfEightHaveTheirOwnRules 18,98 11)
gpu_group_test(TwoOthersHaveOthers 114,18 13)
gpu_group_test(FourOfEightHaveTheirOwnRules 130,98,18,114 17)
gpu_group_test(GpusThatWereNotMeasuredHaveNone 18,130 model)

# `variant_plugin(NAME SOURCE EXCLUDED)`: the plugin with SOURCE in place of objects that match
# EXCLUDED, or of one of an archive, before which SOURCE comes.
function(variant_plugin name source excluded)
  add_library(${name} MODULE ${source}
    $<FILTER:$<TARGET_OBJECTS:nccl-tuner-lanewise>,EXCLUDE,${excluded}>)
  target_link_libraries(${name} PRIVATE lanewise::host lanewise::control lanewise_flags)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src/host)
  target_link_options(${name} PRIVATE
    LINKER:--version-script=${PROJECT_SOURCE_DIR}/plugin/exports.map)
  if(lanewise_sanitizer EQUAL -1)
    target_link_options(${name} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()
variant_plugin(plugin_without_hwloc failing_hwloc.cpp no_such_object)
add_test(NAME FaultyRanks.HaveAnHwlocThatFails
  COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_ranks.sh ${all_apply}
          $<TARGET_FILE:plays_ranks> $<TARGET_FILE:plugin_without_hwloc> 3 ${no_waiting})
set_tests_properties(FaultyRanks.HaveAnHwlocThatFails PROPERTIES TIMEOUT 30 LABELS faults)

variant_plugin(plugin_of_another_version ${PROJECT_SOURCE_DIR}/plugin/rank_agreement.cpp rank_agreement)
# Not inline: the linker would take one variable for all objects.
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/another_version/core/version.hpp "#pragma once
#include <string_view>
namespace lanewise {
constexpr std::string_view version = \"0.0.0\";
}
")
target_include_directories(plugin_of_another_version BEFORE PRIVATE
  ${CMAKE_CURRENT_BINARY_DIR}/another_version)
faulty_ranks_test(HaveOneWithAnotherVersion 3 ${all_stock} ${no_waiting}
  1:plugin=$<TARGET_FILE:plugin_of_another_version>)
faulty_ranks_test(HaveThatOtherVersionAll 3 ${all_apply} ${no_waiting}
  all:plugin=$<TARGET_FILE:plugin_of_another_version>)

# A profile that changes while it is in use, see plays_profiles.c.
add_executable(plays_profiles plays_profiles.c tuner_player.c)
target_link_libraries(plays_profiles PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(plays_profiles nccl-tuner-lanewise)
foreach(scenario replaced rewritten world_writable open_folder of_two_ranks)
  add_test(NAME ProfileFaults.${scenario}
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_profile_faults.sh $<TARGET_FILE:lanewise>
            $<TARGET_FILE:plays_profiles> $<TARGET_FILE:plays_ranks> ${lanewise_plugin}
            ${PROJECT_SOURCE_DIR}/src/host/machines/two_sockets_8gpu.xml ${scenario})
  set_tests_properties(ProfileFaults.${scenario} PROPERTIES TIMEOUT 60 LABELS faults)
endforeach()

# The plugin at its limits, see plays_limits.c.
add_executable(plays_limits plays_limits.c tuner_player.c)
target_link_libraries(plays_limits PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})
# The plugin shall find the allocator of this program.
set_target_properties(plays_limits PROPERTIES ENABLE_EXPORTS ON)
add_dependencies(plays_limits nccl-tuner-lanewise)

# The C library of this program is faulty, too.
foreach(program plays_forks plays_opens)
  add_executable(${program} ${program}.c faulty_libc.c tuner_player.c)
  target_link_libraries(${program} PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)
  add_dependencies(${program} nccl-tuner-lanewise)
endforeach()
foreach(scenario reading anywhere)
  add_test(NAME Forks.${scenario} COMMAND plays_forks ${lanewise_plugin} ${scenario})
  set_tests_properties(Forks.${scenario} PROPERTIES TIMEOUT 120 LABELS faults)
endforeach()

# Files as a setting may name them: none is waited for, none is left to a child.
add_test(NAME Opens.EachFileWithCare COMMAND plays_opens ${lanewise_plugin})
set_tests_properties(Opens.EachFileWithCare PROPERTIES TIMEOUT 60 LABELS faults FIXTURES_REQUIRED
  lanewise_test_profile ENVIRONMENT "LANEWISE_LOG_FILE=${broken}/log;LANEWISE_LOG=trace;\
LANEWISE_PROFILE=${lanewise_test_profile};LANEWISE_MACHINE=${lanewise_test_machine}")
add_test(NAME Opens.ThisMachineWithCare COMMAND plays_opens ${lanewise_plugin})
set_tests_properties(Opens.ThisMachineWithCare PROPERTIES TIMEOUT 60 LABELS faults)
plays_nccl_test(TakesALogFileThatIsAFifo without_logger LANEWISE_LOG_FILE=${broken}/fifo)
plays_nccl_test(IsInertForAMachineThatIsAFifo inert LANEWISE_MACHINE=${broken}/fifo)
plays_nccl_test(IsInertForAProfileThatIsAFifo inert LANEWISE_PROFILE=${broken}/fifo)
set_tests_properties(PlaysNccl.TakesALogFileThatIsAFifo PlaysNccl.IsInertForAMachineThatIsAFifo
  PlaysNccl.IsInertForAProfileThatIsAFifo PROPERTIES TIMEOUT 30)

add_executable(plays_starts plays_starts.c tuner_player.c)
target_link_libraries(plays_starts PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})

function(limits_test name scenario)
  add_test(NAME Limits.${name} COMMAND plays_limits ${lanewise_plugin} ${scenario})
  set_tests_properties(Limits.${name} PROPERTIES TIMEOUT 300 LABELS faults
    ENVIRONMENT "${ARGN}")
endfunction()

limits_test(SixtyFourCommunicatorsAtOnce sixty_four_at_once LANEWISE_AGREE_MS=60000)
limits_test(TenThousandCommunicatorsLeaveNothing ten_thousand)
# Not with hwloc, which asserts that it gets its first memory.
limits_test(EveryAllocationOfInitMayFail without_memory LANEWISE_AGREE_MS=500
  LANEWISE_MACHINE=${lanewise_test_machine} LANEWISE_PROFILE=${lanewise_pair_profile})
set_tests_properties(Limits.EveryAllocationOfInitMayFail PROPERTIES
  FIXTURES_REQUIRED lanewise_test_profile)
limits_test(InitTakesNoMemoryWhereThereIsNone without_any_memory)
limits_test(ManyCommunicatorsKeepNoDescriptors few_descriptors
  LANEWISE_LOG_FILE=${CMAKE_CURRENT_BINARY_DIR}/few_descriptors.log)
limits_test(DecidesWithoutSystemCalls without_system_calls)
without_sanitizer(Forks.anywhere Limits.EveryAllocationOfInitMayFail
  Limits.InitTakesNoMemoryWhereThereIsNone Limits.DecidesWithoutSystemCalls)

# A decision's cost, where the compiler optimises and no sanitizer counts along.
find_program(VALGRIND valgrind)
if(VALGRIND AND (CMAKE_BUILD_TYPE STREQUAL "Release" OR LANEWISE_OPTIMIZE_PLUGIN) AND
    lanewise_sanitizer EQUAL -1)
  add_test(NAME Decision.CostsAtMost120Instructions
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_decision_cost.sh 120
            $<TARGET_FILE:plays_limits> ${lanewise_plugin})
  # Half as much again as it costs: 560 000 with GCC 12.
  add_test(NAME Init.CostsAtMost840000Instructions
    COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_init_cost.sh 840000
            $<TARGET_FILE:plays_limits> ${lanewise_plugin} ${lanewise_test_machine})
  set_tests_properties(Decision.CostsAtMost120Instructions Init.CostsAtMost840000Instructions
    PROPERTIES TIMEOUT 120)
  only_plain(Decision.CostsAtMost120Instructions Init.CostsAtMost840000Instructions)
endif()

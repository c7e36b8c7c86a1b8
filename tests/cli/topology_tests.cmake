foreach(file dev_subset.xml flat_guest.xml no_nvidia.xml switch_hwloc.xml topo_matrix.smi two_hosts.xml
    two_sockets_mixed.xml)
  cmake_path(REMOVE_EXTENSION file LAST_ONLY OUTPUT_VARIABLE machine)
  foreach(form txt json)
    set(arguments topology --machine ${file})
    if(form STREQUAL json)
      list(APPEND arguments --json)
    endif()
    add_test(NAME TopologyCommand.${machine}.${form} COMMAND ${CMAKE_COMMAND}
      -DPROGRAM=$<TARGET_FILE:lanewise> "-DARGUMENTS=${arguments}"
      -DFOLDER=${CMAKE_CURRENT_SOURCE_DIR}/machines -DGOLDEN=${machine}.${form}
      -P ${CMAKE_CURRENT_SOURCE_DIR}/check_golden.cmake)
  endforeach()
endforeach()

add_test(NAME TopologyCommand.RefusesWithFileAndLine
  COMMAND lanewise topology --machine ${CMAKE_CURRENT_SOURCE_DIR}/machines/two_sockets_mixed.json)
set_tests_properties(TopologyCommand.RefusesWithFileAndLine PROPERTIES
  PASS_REGULAR_EXPRESSION "two_sockets_mixed.json:[0-9]+: expected well-formed XML")
set(open_machine ${CMAKE_CURRENT_BINARY_DIR}/open_machine.xml)
file(COPY_FILE ${CMAKE_CURRENT_SOURCE_DIR}/machines/dev_subset.xml ${open_machine})
file(CHMOD ${open_machine} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ GROUP_WRITE WORLD_READ WORLD_WRITE)
add_test(NAME TopologyCommand.ShowsAFileThatEveryoneMayWrite COMMAND ${check_output}
  0 "GPU10" $<TARGET_FILE:lanewise> topology --machine ${open_machine})
add_test(NAME TopologyCommand.RefusesANameThatIsNotUtf8AsJson COMMAND ${check_output}
  2 "expected UTF-8" sh -c "cp '${open_machine}' \"$(printf 'bad\\377.xml')\" && '$<TARGET_FILE:lanewise>' topology --json --machine \"$(printf 'bad\\377.xml')\"")
add_test(NAME TopologyCommand.ShowsThisMachine COMMAND lanewise topology)
set_tests_properties(TopologyCommand.ShowsThisMachine PROPERTIES
  PASS_REGULAR_EXPRESSION "machine      this machine\n.*fingerprint  [0-9a-f]+\n"
  FAIL_REGULAR_EXPRESSION "hwloc")


# LANEWISE_MACHINE stands for --machine wherever a machine is read, and --machine wins over it.
function(machine_setting_test name status setting text)
  add_test(NAME MachineSetting.${name} COMMAND ${check_output}
    ${status} ${text} $<TARGET_FILE:lanewise> ${ARGN})
  set_tests_properties(MachineSetting.${name} PROPERTIES ENVIRONMENT LANEWISE_MACHINE=${setting})
endfunction()
set(machines ${CMAKE_CURRENT_SOURCE_DIR}/machines)
machine_setting_test(IsObeyedByTopology 0 ${machines}/switch_hwloc.xml
  "machine      ${machines}/switch_hwloc.xml" topology)
machine_setting_test(YieldsToTheOption 0 ${machines}/switch_hwloc.xml
  "machine      ${machines}/flat_guest.xml" topology --machine ${machines}/flat_guest.xml)
machine_setting_test(IsObeyedByExplain 0 ${machines}/switch_hwloc.xml
  "${machines}/switch_hwloc.xml, " explain)
# The plugin would refuse it.
machine_setting_test(RefusesAFileThatEveryoneMayWrite 2 ${open_machine} "chmod o-w" topology)
foreach(command topology explain graph run)
  set(words ${command})
  if(command STREQUAL run)
    set(words run -- true)
  endif()
  machine_setting_test(NamesTheMissingFileTo.${command} 2 /nonexist.xml "/nonexist.xml: cannot open"
    ${words})
endforeach()

# Reading a machine starts no GPU library: a later fork would break CUDA.
add_library(fake_gpu_library SHARED ${PROJECT_SOURCE_DIR}/tests/host/machine/fake_gpu_library.c)
target_link_libraries(fake_gpu_library PRIVATE lanewise_flags)
set(fake_gpu_folder ${CMAKE_CURRENT_BINARY_DIR}/fake_gpu_libraries)
foreach(name libcuda.so.1 libnvidia-ml.so.1 libcudart.so.12 libOpenCL.so.1 libXNVCtrl.so.0 librsmi64.so.1)
  add_custom_command(TARGET fake_gpu_library POST_BUILD COMMAND ${CMAKE_COMMAND} -E
    copy $<TARGET_FILE:fake_gpu_library> ${fake_gpu_folder}/${name})
endforeach()
add_test(NAME TopologyCommand.LoadsNoGpuLibrary COMMAND lanewise topology)
set_tests_properties(TopologyCommand.LoadsNoGpuLibrary PROPERTIES
  ENVIRONMENT LD_LIBRARY_PATH=${fake_gpu_folder})
plays_nccl_test(LoadsNoGpuLibrary twice LD_LIBRARY_PATH=${fake_gpu_folder})

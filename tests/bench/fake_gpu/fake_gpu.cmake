# The bench linked to a GPU and an NCCL that are none.
add_library(fake-driver SHARED fake_gpu/fake_driver.cpp)
set_target_properties(fake-driver PROPERTIES
  CXX_VISIBILITY_PRESET default OUTPUT_NAME cuda VERSION 1 SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_driver)
target_include_directories(fake-driver SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(fake-driver PRIVATE lanewise_flags)

add_executable(fake-bench fake_gpu/fake_cuda.cpp fake_gpu/fake_kernels.cpp)
target_link_libraries(fake-bench PRIVATE
  lanewise_bench_core lanewise_flags -Wl,--no-as-needed fake-driver -Wl,--as-needed)
set_target_properties(fake-bench PROPERTIES ENABLE_EXPORTS ON CXX_VISIBILITY_PRESET default)

add_library(fake-nccl SHARED fake_gpu/fake_nccl.cpp)
set_target_properties(fake-nccl PROPERTIES
  CXX_VISIBILITY_PRESET default OUTPUT_NAME nccl VERSION 2 SOVERSION 2 LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_nccl)
target_include_directories(fake-nccl SYSTEM PRIVATE
  $<TARGET_PROPERTY:lanewise_bench_core,INTERFACE_SYSTEM_INCLUDE_DIRECTORIES>
  ${LANEWISE_NCCL_INCLUDE} ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(fake-nccl PRIVATE lanewise_flags ${CMAKE_DL_LIBS})
# In a folder of its own: only a test that wants it finds it.
add_library(fake-nvml SHARED fake_gpu/fake_nvml.cpp)
set_target_properties(fake-nvml PROPERTIES
  CXX_VISIBILITY_PRESET default OUTPUT_NAME nvidia-ml VERSION 1 SOVERSION 1
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fake_nvml)
target_link_libraries(fake-nvml PRIVATE lanewise_flags)
# They sum and check megabytes, also in a debug build.
target_compile_options(fake-nccl PRIVATE -O3)
target_compile_options(fake-bench PRIVATE -O3)

# `bench_test(NAME STATUS status MATCH regex COMMAND arguments...)` runs the bench on the fake GPU; the
# shell says the status, which PASS_REGULAR_EXPRESSION would not look at. Its times are the fake GPU's
# own: they do not depend on what else runs.
function(bench_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "STATUS;MATCH;ENVIRONMENT" "COMMAND")
  list(JOIN test_COMMAND " " arguments)
  add_test(NAME Bench.${name} COMMAND sh -c
    "${test_ENVIRONMENT} '$<TARGET_FILE:fake-bench>' ${arguments} 2>&1; echo status $?")
  set_tests_properties(Bench.${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "${test_MATCH}.*status ${test_STATUS}\n" TIMEOUT 300
    ENVIRONMENT "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake-nccl>")
  only_plain(Bench.${name})
endfunction()

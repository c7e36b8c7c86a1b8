lanewise_test(agreement_search_test lanewise::core)
# Millions of steps: a second with optimisation, a minute without.
target_compile_options(agreement_search_test PRIVATE -O2)
lanewise_test(agreement_test lanewise::host)

add_library(fake_cuda SHARED fake_cuda.c)
set_target_properties(fake_cuda PROPERTIES OUTPUT_NAME cuda SUFFIX .so.1)
target_link_libraries(fake_cuda PRIVATE lanewise_flags)
target_link_options(fake_cuda PRIVATE -Wl,-soname,libcuda.so.1)
lanewise_test(gpu_of_rank_test lanewise::host ${CMAKE_DL_LIBS})
target_compile_definitions(gpu_of_rank_test PRIVATE
  LANEWISE_FAKE_CUDA="$<TARGET_FILE:fake_cuda>")
add_dependencies(gpu_of_rank_test fake_cuda)

# `lanewise doctor` as people see it. Another root than / needs hwloc as scripts/deps.sh builds it.
add_test(NAME Doctor.ExaminesThisMachine COMMAND lanewise doctor)
set_tests_properties(Doctor.ExaminesThisMachine PROPERTIES
  PASS_REGULAR_EXPRESSION "machine    this machine\n")
foreach(case page text json svg leaves_files_alone without_sys measures refuses)
  if(case STREQUAL page OR LANEWISE_HWLOC_IS_STATIC)
    add_test(NAME Doctor.${case}
      COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_doctor.sh $<TARGET_FILE:lanewise> ${case})
  endif()
endforeach()

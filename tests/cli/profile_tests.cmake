# The command as people see it: ProfileCommand.NAME runs `lanewise profile ARGS` and expects TEXT in
# its output and its exit STATUS.
set(lanewise_rows ${CMAKE_CURRENT_BINARY_DIR}/rows.conf)
file(WRITE ${lanewise_rows} "# by hand\nallreduce,0,65536,tree,ll,4,1,-1\nbroadcast,0,9,ring,ll,1,1,-1\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/broken_rows.conf "allreduce,0,65536,tree,ll,4,1,-1\nallreduce,0,65536,tree2,ll,4,1,-1\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/ll128_rows.conf "\nallreduce,0,65536,tree,ll128,4,1,-1\n")
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/broken_profile.json "{\n  \"schema_version\": 2\n}\n")
function(lanewise_profile_test name status text)
  add_test(NAME ProfileCommand.${name} COMMAND ${check_output}
    ${status} ${text} $<TARGET_FILE:lanewise> profile ${ARGN})
  set_tests_properties(ProfileCommand.${name} PROPERTIES
    FIXTURES_REQUIRED lanewise_test_profile WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}
    ENVIRONMENT LANEWISE_MACHINE=${lanewise_test_machine})
endfunction()
lanewise_profile_test(ShowsTheBestEnvironment 0 "(best): NCCL_MIN_NCHANNELS=16"
  show ${lanewise_test_profile})
lanewise_profile_test(ChecksThatAProfileFitsThisMachine 0 "made on this machine"
  check ${lanewise_test_profile})
add_test(NAME ProfileCommand.SaysByItsStatusThatAProfileIsOfAnotherMachine COMMAND ${check_output}
  1 "does not fit: made on machine" env
  LANEWISE_MACHINE=${CMAKE_CURRENT_SOURCE_DIR}/machines/switch_hwloc.xml
  $<TARGET_FILE:lanewise> profile check ${lanewise_test_profile})
set_tests_properties(ProfileCommand.SaysByItsStatusThatAProfileIsOfAnotherMachine PROPERTIES
  FIXTURES_REQUIRED lanewise_test_profile)
lanewise_profile_test(RefusesAnotherSchemaWithItsLine 2
  "broken_profile.json:2: schema_version: expected 1" check broken_profile.json)
lanewise_profile_test(RefusesAMissingFile 2 "none.json: cannot open" show none.json)
lanewise_profile_test(RefusesAFolder 2 "expected a regular file" show .)
lanewise_profile_test(ConvertsAProfileToRows 0 "collective_type,min_bytes"
  convert ${lanewise_test_profile})
lanewise_profile_test(ConvertsRowsToAProfile 0 "\"bytes\": [1, 65536], \"choice\": \"tree/ll/4\""
  convert ${lanewise_rows} --ranks 8 --nccl 2.30.7)
lanewise_profile_test(NamesTheRowsItCannotTake 0 "rows.conf:3: not taken for 8 ranks"
  convert ${lanewise_rows} --ranks 8 --nccl 2.30.7)
lanewise_profile_test(RefusesRowsWithoutRanks 2 "--ranks" convert ${lanewise_rows} --nccl 2.30.7)
lanewise_profile_test(RefusesRowsWithoutARelease 2 "--nccl" convert ${lanewise_rows} --ranks 8)
lanewise_profile_test(RefusesRowsForAnNcclThatThereIsNot 2 "--nccl 2.30.6: there is no such NCCL"
  convert ${lanewise_rows} --ranks 8 --nccl 2.30.6)
lanewise_profile_test(RefusesBrokenRowsWithTheirLine 2 "broken_rows.conf:2: algorithm"
  convert broken_rows.conf --ranks 8 --nccl 2.30.7)
lanewise_profile_test(RefusesLl128WithoutProof 2 "ll128_rows.conf:2: expected no LL128"
  convert ll128_rows.conf --ranks 8 --nccl 2.30.7)
lanewise_profile_test(NamesAFileItCannotWrite 2 "none/p.json"
  convert ${lanewise_test_profile} -o none/p.json)
lanewise_profile_test(RefusesAnEnvironmentThatIsNotThere 2 "expected an environment below"
  convert ${lanewise_test_profile} --environment 99)

# The model's fit: of a sweep whose times grow with the size.
set(lanewise_sweep "bytes,arm,algorithm,protocol,channels,median_us,low_us,high_us,ratio,ratio_low,ratio_high,samples,wrong\n")
foreach(way tree/ll tree/simple ring/ll ring/simple)
  foreach(kib 8 16 32 64 128 256)
    foreach(channels 1 2)
      math(EXPR us "20 + ${kib} / ${channels}")
      math(EXPR bytes "1024 * ${kib}")
      string(APPEND lanewise_sweep "${bytes},${way}/${channels},,,,${us},,,,,,10,0\n")
    endforeach()
  endforeach()
endforeach()
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/sweep.csv ${lanewise_sweep})
file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/no_sweep.csv "bytes\n")
function(lanewise_model_test name status text)
  add_test(NAME ModelCommand.${name} COMMAND ${check_output}
    ${status} ${text} $<TARGET_FILE:lanewise> model ${ARGN})
  set_tests_properties(ModelCommand.${name} PROPERTIES FIXTURES_REQUIRED lanewise_test_profile
    WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
lanewise_model_test(Fits 0 "fitted to 8192 to 262144 bytes on 2 channels"
  fit sweep.csv ${lanewise_test_profile} -o fitted_profile.json)
set_tests_properties(ModelCommand.Fits PROPERTIES FIXTURES_SETUP lanewise_fitted_profile)
lanewise_model_test(ShowsTheFitOfAProfile 0 "fitted to 8192 to 262144 bytes on 2 channels"
  show fitted_profile.json)
set_tests_properties(ModelCommand.ShowsTheFitOfAProfile PROPERTIES
  FIXTURES_REQUIRED lanewise_fitted_profile)
# Without the fit explain says 47 to 110 us here.
add_test(NAME ModelCommand.IsWhatExplainReckonsWith COMMAND ${check_output} 0 " 28-38 "
  env NCCL_MIN_NCHANNELS=16 LANEWISE_MACHINE=${lanewise_test_machine} $<TARGET_FILE:lanewise>
  explain --profile fitted_profile.json --ranks 8 --nccl 2.30.7 --bytes 16384 --channels 2)
set_tests_properties(ModelCommand.IsWhatExplainReckonsWith PROPERTIES
  FIXTURES_REQUIRED lanewise_fitted_profile WORKING_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR})
lanewise_model_test(ShowsThatThereIsNone 0 "no fit" show ${lanewise_test_profile})
lanewise_model_test(RefusesWhatIsNoSweep 2 "no_sweep.csv:1: expected the columns"
  fit no_sweep.csv ${lanewise_test_profile} -o none.json)
lanewise_model_test(RefusesRanksThatNobodyMeasured 2 "expected --ranks of one of its groups"
  fit sweep.csv ${lanewise_test_profile} --ranks 5 -o none.json)

# The report, where there is matplotlib: first the system's Python, for which scripts/install.sh
# brings it.
find_program(LANEWISE_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(LANEWISE_PYTHON python3)
if(LANEWISE_PYTHON)
  foreach(case sections schema words missing)
    add_test(NAME Report.${case} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/check_report.sh ${case}
      ${LANEWISE_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/report.py
      ${CMAKE_CURRENT_SOURCE_DIR}/report/small_result.json ${CMAKE_CURRENT_BINARY_DIR})
    set_tests_properties(Report.${case} PROPERTIES SKIP_RETURN_CODE 77)
  endforeach()
endif()

# Ranks that share a GPU, whose kernels never end where not all their blocks fit; and candidates in
# which a rank hangs.
set(shared_gpu LANEWISE_FAKE_GPUS=1 LANEWISE_FAKE_SMS=32 FAKE_NCCL_CHANNELS=32)
list(JOIN shared_gpu " " shared_gpu)
bench_test(TuneNeverGivesASharedGpuMoreBlocksThanItHolds STATUS 0
  MATCH "4 ranks on 1 GPUs, 8 channels.*best: "
  ENVIRONMENT "${shared_gpu}" COMMAND ${small_tune} --ranks 4 --threads --timeout 5 -o crowd.json
    --environment "'NCCL_THREAD_THRESHOLDS=-1 -1 -1 8'")
bench_test(CompareDoesNotTryBlocksThatASharedGpuCannotHold STATUS 0
  MATCH "lanewise-no-profile .*14 KiB .*128 blocks are too many for a GPU"
  ENVIRONMENT "${shared_gpu} NCCL_MAX_NCHANNELS=32"
  COMMAND ${small_compare} --ranks 4 --threads --timeout 5 --arm lanewise-no-profile --arm
    "'env:NCCL_THREAD_THRESHOLDS=-1 -1 -1 8'")
bench_test(CompareFailsWhereNothingCouldBeTried STATUS 1
  MATCH "14 KiB .*128 blocks are too many for a GPU"
  ENVIRONMENT "${shared_gpu} NCCL_MAX_NCHANNELS=32"
  COMMAND ${small_compare} --ranks 4 --threads --timeout 5 --arm
    "'env:NCCL_THREAD_THRESHOLDS=-1 -1 -1 8'")
bench_test(LimitsTheChannelsOfRanksThatShareAGpu STATUS 0
  MATCH "fake-nccl: NCCL_MAX_NCHANNELS=8\n.*geometric mean"
  ENVIRONMENT "${shared_gpu} FAKE_NCCL_SHOWS=NCCL_MAX_NCHANNELS"
  COMMAND ${small_compare} --ranks 4 --threads --timeout 5 --arm
    "'env:NCCL_THREAD_THRESHOLDS=-1 -1 -1 8'")
bench_test(TuneRecordsAChoiceThatHangsAndGoesOn STATUS 0
  MATCH "UNSAFE: tree/ll/16: tune: no answer within 5 s: rank 1 .timing tree/ll/16 at 57344.*1 rules, geometric mean .*best: .*.choice.: .tree/ll/16., .evidence.: .tune: no answer within 5 s"
  ENVIRONMENT "rm -f hang.json &&"  # of an earlier run, which would leave the choice out
  COMMAND ${small_tune} --layers choice --timeout 5 --inject hang:1@tree/ll/16 -o hang.json
    && grep -A1 unsafe hang.json)
# The later tune would hang there again: it does not try what the profile names.
bench_test(TuneDoesNotTryWhatItsProfileNamesUnsafe STATUS 0
  MATCH "not tried, unsafe in hang.json: tree/ll/16\n.*best: .*.choice.: .tree/ll/16., .evidence.: .tune: no answer"
  COMMAND ${small_tune} --layers choice --timeout 5 --inject hang:1@tree/ll/16 -o hang.json
    && grep -A1 unsafe hang.json)
set_tests_properties(Bench.TuneDoesNotTryWhatItsProfileNamesUnsafe PROPERTIES
  DEPENDS Bench.TuneRecordsAChoiceThatHangsAndGoesOn FAIL_REGULAR_EXPRESSION "UNSAFE")
bench_test(SweepGoesOnWithoutAChoiceThatHangs STATUS 1
  MATCH "UNSAFE: tree/ll/4: the sweep: no answer within 5 s: rank 1 .timing tree/ll/4.* 14 KiB .*tree/ll/[0-9]+\n *28 KiB .*tree/ll/"
  COMMAND sweep --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 14K,28K --rounds 2 --timeout 5
    --inject hang:1@tree/ll/4)
bench_test(CompareGoesOnWithoutAnArmThatHangs STATUS 1
  MATCH "14 KiB .*UNSAFE, left out .*ring/ll/2.*28 KiB .*UNSAFE, left out .*ring/ll/2.*UNSAFE: tree/ll/4: .*no answer within 5 s: rank 1"
  COMMAND ${small_compare} --bytes 14K,28K --arm stock --arm tree/ll/4 --arm ring/ll/2 --timeout 5
    --inject hang:1@tree/ll/4)
bench_test(ShowsTheChannelsThatNcclReallyTook STATUS 0 MATCH "tree/ll/4: us ratio.*14 KiB .*tree/ll/2"
  ENVIRONMENT "LANEWISE_FAKE_NCCL=23203 LANEWISE_FAKE_SMS=132"
  COMMAND ${small_compare} --arm stock --arm tree/ll/4)

# Left behind by a rank 0 that was killed while it waited: rank 1 must not take it for its own run.
add_test(NAME Bench.JoinsNoSegmentOfARunThatWasKilled COMMAND sh
  ${CMAKE_CURRENT_SOURCE_DIR}/fake_gpu/restarted_job.sh $<TARGET_FILE:fake-bench> compare
  --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 14K --rounds 2 --most-rounds 2 --arm noop
  --arm tree/ll/4 --timeout 10)
set_tests_properties(Bench.JoinsNoSegmentOfARunThatWasKilled PROPERTIES
  PASS_REGULAR_EXPRESSION "one segment left.*14 KiB .*tree/ll/4 [12]\\..*status 0 0" TIMEOUT 300 RUN_SERIAL ON
  ENVIRONMENT "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake-nccl>")
only_plain(Bench.JoinsNoSegmentOfARunThatWasKilled)

# Ranks of a bench that somebody kills must not stay on the GPU.
foreach(kind "" "--threads")
  string(REPLACE "--" "" name "${kind}")
  add_test(NAME Bench.LeavesNoRanksWhenItIsKilled${name} COMMAND
    ${CMAKE_CURRENT_SOURCE_DIR}/fake_gpu/killed_bench.sh $<TARGET_FILE:fake-bench> compare
    --plugin $<TARGET_FILE:nccl-tuner-lanewise> --ranks 2 ${kind} --bytes 14K --arm noop --arm
    tree/ll/4 --timeout 60 --inject hang:1)
  set_tests_properties(Bench.LeavesNoRanksWhenItIsKilled${name} PROPERTIES
    PASS_REGULAR_EXPRESSION "[2-9] processes.*nobody is left" TIMEOUT 300
    ENVIRONMENT "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake-nccl>")
  only_plain(Bench.LeavesNoRanksWhenItIsKilled${name})
endforeach()

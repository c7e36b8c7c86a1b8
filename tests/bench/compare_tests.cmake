# The commands as a black box.
set(small_compare compare --plugin $<TARGET_FILE:nccl-tuner-lanewise> --rounds 6 --most-rounds 6
  --bytes 14K)

bench_test(ComparesRanksThatAreThreads STATUS 0 MATCH "14 KiB .*lanewise-no-profile [0-9]\\."
  COMMAND ${small_compare} --ranks 4 --threads)
bench_test(ComparesRanksThatAreProcesses STATUS 0 MATCH "14 KiB .*lanewise-no-profile [0-9]\\."
  COMMAND ${small_compare})
bench_test(ComparesEagerCalls STATUS 0 MATCH "eager.*tree/ll/4 2\\.0"
  COMMAND ${small_compare} --eager --arm stock --arm tree/ll/4)
bench_test(TimesOtherCollectives STATUS 0
  MATCH "all_gather: timed, results are not checked.*16 KiB  .*noop 1\\.000"
  COMMAND compare --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 16K --rounds 2 --most-rounds 2
    --arm stock --arm noop --collective all_gather)
bench_test(RefusesAPartOfAnElementForEachRank STATUS 2
  MATCH "14338 bytes: expected a multiple of 4 for a reduce_scatter of 2 ranks"
  COMMAND compare --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 14338 --collective reduce_scatter)
bench_test(LeavesOutWhatNcclDoesNotPrice STATUS 0 MATCH "14 KiB .*not priced by NCCL"
  COMMAND ${small_compare} --arm stock --arm ring/ll128)
bench_test(NamesAWrongSum STATUS 3 MATCH "WRONG: lanewise-no-profile at 14 KiB: rank 1: 1 wrong sums"
  COMMAND ${small_compare} --inject wrong:1)
bench_test(NamesARankThatHangs STATUS 1 MATCH "no answer within 2 s: rank 2 .timing [a-z-]* at 14336"
  COMMAND ${small_compare} --ranks 4 --threads --inject hang:2 --timeout 2)
bench_test(NamesARankThatDies STATUS 1 MATCH "rank 1 .timing [a-z-]* at 14336 bytes. was killed by signal 9"
  COMMAND ${small_compare} --inject kill:1)
bench_test(ChecksThatNothingIsSlower STATUS 4 MATCH "slower than stock: ring/simple/1 at 14 KiB"
  COMMAND ${small_compare} --arm stock --arm ring/simple/1 --check never-worse)
bench_test(LooksAgainInFreshCommunicatorsBeforeItSaysSlower STATUS 0
  MATCH "14 KiB .* noop 0\\.8[0-9]*\n1 looked slower than stock: again.*14 KiB .* (0\\.99|1\\.0)"
  ENVIRONMENT "rm -f slow1 && FAKE_NCCL_SLOW=3,slow1"
  COMMAND ${small_compare} --arm stock --arm noop --check never-worse)
bench_test(FindsWrongSumsInTheSecondLook STATUS 3
  MATCH "1 looked slower than stock: again.*WRONG: noop at 14 KiB.*slower than stock: noop at 14 KiB"
  ENVIRONMENT "rm -f slow3 && FAKE_NCCL_WRONG=1 FAKE_NCCL_SLOW=3,slow3"
  COMMAND ${small_compare} --arm stock --arm noop --check never-worse)
bench_test(SaysSlowerWhereFreshCommunicatorsAreToo STATUS 4
  MATCH "1 looked slower than stock: again.*slower than stock: noop at 14 KiB"
  ENVIRONMENT "rm -f slow2 && FAKE_NCCL_SLOW=6,slow2"
  COMMAND ${small_compare} --arm stock --arm noop --check never-worse)
bench_test(SaysThatThereIsNoGpu STATUS 2 MATCH "no GPU is visible" ENVIRONMENT LANEWISE_FAKE_GPUS=0
  COMMAND ${small_compare})
bench_test(WantsThreadsForMoreRanksThanGpus STATUS 2 MATCH "8 ranks on 2 GPUs need --threads"
  COMMAND ${small_compare} --ranks 8)
bench_test(WantsANewNcclForMoreRanksThanGpus STATUS 2 MATCH "need NCCL 2.30.3 or newer, this is 2.28.9"
  ENVIRONMENT LANEWISE_FAKE_NCCL=22809 COMMAND ${small_compare} --ranks 8 --threads)
bench_test(StartsAsRunDoesWithoutAProfile STATUS 0 MATCH "14 KiB .*lanewise-env [0-9.]* .*noop-env (0\\.9|1\\.0)"
  COMMAND ${small_compare} --arm noop --arm lanewise-env --arm noop-env)
bench_test(RefusesAnUnknownArm STATUS 2 MATCH "unknown arm .fastest" COMMAND ${small_compare} --arm fastest)
bench_test(RefusesStatisticsWithoutACall STATUS 2 MATCH "empty.json: expected at least one size"
  ENVIRONMENT "echo '{\"schema_version\":1,\"sizes\":[],\"processes\":[]}' > empty.json &&"
  COMMAND ${small_compare} --from-stats empty.json)
bench_test(RefusesHalfAnElement STATUS 2 MATCH "no whole number of bf16" COMMAND ${small_compare} --bytes 13)

bench_test(TunesAndWritesWhatItMeasured STATUS 0 MATCH "tree/ll/4.*1 rules, geometric mean [12]\\..*\"choice\": \"tree/ll/4\""
  COMMAND tune --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 14K --budget 60 --layers choice -o tuned.json && cat tuned.json)
# Fewer channels than NCCL's own are slower: no rule, and no win is claimed.
bench_test(TuneSaysThatNothingIsGained STATUS 0
  MATCH "0 rules, .*no gain measured: the profile keeps NCCL's own choice at these sizes.*measured at 1\\.00x stock"
  ENVIRONMENT NCCL_MAX_NCHANNELS=1
  COMMAND tune --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 256K --budget 600 --layers choice -o none.json)
bench_test(TuneRefusesABusyGpu STATUS 2
  MATCH "GPU 0 is also used by process 4711"
  ENVIRONMENT "LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$<TARGET_FILE_DIR:fake-nvml>"
  COMMAND tune --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 14K --budget 60 --layers choice -o busy.json
    || "(test" ! -e busy.json && exit "2)")
bench_test(TakesTheProfileOfTheEnvironment STATUS 0
  MATCH "  lanewise: us ratio.*14 KiB "
  ENVIRONMENT LANEWISE_PROFILE=tuned.json COMMAND ${small_compare})
bench_test(TakesNoProfileWhereTheEnvironmentSaysNone STATUS 0 MATCH "lanewise-no-profile: us ratio \\[95 %\\] choice *\n *14 KiB "
  ENVIRONMENT LANEWISE_PROFILE=none COMMAND ${small_compare})
set_tests_properties(Bench.TakesTheProfileOfTheEnvironment PROPERTIES
  DEPENDS Bench.TunesAndWritesWhatItMeasured)
# Noise alone orders these choices, so one that lost at a size comes back for its neighbours' sake.
bench_test(MeasuresWhatAllSizesHaveInCommon STATUS 0
  MATCH "4 KiB [^(]* 6 KiB [^(]* 8 KiB [^(]* 10 KiB [^(]* 14 KiB [^(]* 20 KiB [^(]* 28 KiB [^(]* 56 KiB [^(]* rules, geometric mean 1\\.9.*\"model\": .\"channels\": [0-9]*, .bytes.: .4096, 57344"
  ENVIRONMENT "FAKE_NCCL_ALIKE=1 LANEWISE_FAKE_SMS=132"
  COMMAND tune --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 4K,6K,8K,10K,14K,20K,28K,56K
    --budget 600 --layers choice -o alike.json && cat alike.json)
# The sums are right when all sizes are opened, and wrong when a choice that had lost comes back.
bench_test(FindsWrongSumsOfAChoiceThatComesBack STATUS 3
  MATCH " 8 KiB [^(]* 10 KiB  not measured.*WRONG: tree/ll/1 at 10 KiB"
  ENVIRONMENT "FAKE_NCCL_ALIKE=1 FAKE_NCCL_WRONG_AFTER=40000"
  COMMAND tune --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 4K,6K,8K,10K,14K,20K,28K,56K
    --budget 600 --layers choice -o back.json)
bench_test(SweepsWhatNcclPrices STATUS 0 MATCH "4 priced entries.*14 KiB .*tree/ll/4.*14336,ring/simple/1,ring,simple,1,"
  COMMAND sweep --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 14K --rounds 2 --csv sweep.csv && cat sweep.csv)
bench_test(ReplaysAStep STATUS 0 MATCH "122 calls of at most 56 KiB.*stock .*tree/ll/4  *[0-9.]*  *[12]\\."
  COMMAND replay --plugin $<TARGET_FILE:nccl-tuner-lanewise> --rounds 2 --arm stock --arm tree/ll/4)
bench_test(TimesADecisionWithoutAGpu STATUS 0 MATCH "one decision: [0-9]+ ns median"
  ENVIRONMENT LANEWISE_FAKE_GPUS=0 COMMAND decide --plugin $<TARGET_FILE:nccl-tuner-lanewise> --samples 1000)
bench_test(MeasuresTheNeighboursOfPowersOfTwo STATUS 0 MATCH " 1 KiB .* 1040 .* 2032 .* 2 KiB "
  COMMAND compare --plugin $<TARGET_FILE:nccl-tuner-lanewise> --range 1K:2K --neighbours --rounds 1
    --most-rounds 1 --arm stock --arm ring/ll/1)
bench_test(SaysBeforeMeasuringThatAResultHasNoPlace STATUS 2 MATCH "/nowhere/r.json: cannot be written"
  COMMAND ${small_compare} --json /nowhere/r.json)
# Budgets that never run out, also on a loaded machine: what is looked for ends the search.
set(small_search environments --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 56K --budget 600)
bench_test(FindsTheFasterEnvironment STATUS 0
  MATCH "28.0 MiB  NCCL_BUFFSIZE=524288 NCCL_LL128_BUFFSIZE=307200 NCCL_MIN_NCHANNELS=32.*fastest: NCCL_BUFFSIZE=524288 NCCL_LL128_BUFFSIZE=307200 NCCL_MIN_NCHANNELS=32" COMMAND ${small_search})
bench_test(LeavesAnEnvironmentThatTakesTooMuchMemory STATUS 0
  MATCH "12.0 MiB  .*NCCL_MIN_NCHANNELS=16.*fastest: .*NCCL_MIN_NCHANNELS=8"
  COMMAND ${small_search} --memory 8M)
bench_test(BuildsOnWhatTheUserSet STATUS 0 MATCH "fastest: NCCL_MIN_NCHANNELS=8"
  ENVIRONMENT NCCL_MIN_NCHANNELS=8 COMMAND ${small_search})
# Its first choice that hangs is waited for, not the eight others.
bench_test(RecordsAnEnvironmentThatHangs STATUS 0
  MATCH "UNSAFE .*NCCL_MIN_NCHANNELS=16 [^:]*: .*no answer within 2 s: rank 1.*fastest: .*NCCL_MIN_NCHANNELS=32.*started there: 1\n"
  ENVIRONMENT FAKE_NCCL_SHOWS=NCCL_MIN_NCHANNELS
  COMMAND ${small_search} --timeout 2 --inject hang:1 --inject-in NCCL_MIN_NCHANNELS=16 > hang.txt 2>&1
    && cat hang.txt && echo "started there: $(grep -c 'nccl: NCCL_MIN_NCHANNELS=16$' hang.txt)")
bench_test(RecordsAnEnvironmentWithAWrongSum STATUS 0
  MATCH "UNSAFE .*NCCL_MIN_NCHANNELS=16 [^:]*: .*rank 1: 1 wrong sums.*fastest: .*NCCL_MIN_NCHANNELS=32"
  COMMAND ${small_search} --inject wrong:1 --inject-in NCCL_MIN_NCHANNELS=16)
bench_test(RecordsAnEnvironmentInWhichARankDies STATUS 0
  MATCH "UNSAFE .*NCCL_P2P_LEVEL=SYS [^:]*: .*killed by signal 9"
  COMMAND ${small_search} --inject kill:1 --inject-in NCCL_P2P_LEVEL=SYS)
bench_test(ScreensTheEnvironmentsThatAreGiven STATUS 0
  MATCH "NCCL_MIN_NCHANNELS=32.*NCCL_BUFFSIZE=1048576 NCCL_MIN_NCHANNELS=8.*fastest: NCCL_BUFFSIZE=1048576 NCCL_MIN_NCHANNELS=8"
  COMMAND ${small_search} --memory 8M --environment NCCL_MIN_NCHANNELS=32
    --environment NCCL_MIN_NCHANNELS=8,NCCL_BUFFSIZE=1048576)
bench_test(RefusesAnEnvironmentThatIsNone STATUS 2 MATCH "\"SYS\" is no NAME=VALUE"
  COMMAND ${small_search} --environment SYS)
bench_test(RefusesAnUnreadableAmountOfMemory STATUS 2 MATCH "is no amount of memory"
  COMMAND ${small_search} --memory lots)

set(small_tune tune --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 56K --prefill 1M --budget 600)
bench_test(TunesBothLayers STATUS 0
  MATCH "best: NCCL_BUFFSIZE=524288 NCCL_LL128_BUFFSIZE=307200 NCCL_MIN_NCHANNELS=32 NCCL_THREAD_THRESHOLDS=-1 -1 -1 8, measured at 2\\.[0-9]*x stock, 28\\.0 MiB.*\"best_environment\": 1.*\"NCCL_MIN_NCHANNELS\": \"32\""
  COMMAND ${small_tune} -o both.json && cat both.json)
bench_test(TuneLeavesAnEnvironmentThatIsSlowerAtPrefill STATUS 0
  MATCH "slower than stock at 1 MiB, so it is left out.*best: stock's environment"
  ENVIRONMENT FAKE_NCCL_NEEDS_BUFFERS=1
  COMMAND ${small_tune} --environment NCCL_MIN_NCHANNELS=16,NCCL_BUFFSIZE=1048576 -o prefill.json
    && cat prefill.json && ! grep -q NCCL_MIN_NCHANNELS prefill.json)
bench_test(TuneRefusesAVariableThatNoProfileHolds STATUS 2
  MATCH "^lanewise-bench: --environment NCCL_CUMEM_ENABLE=0: expected a variable that a profile can hold"
  COMMAND ${small_tune} --environment NCCL_MIN_NCHANNELS=16,NCCL_CUMEM_ENABLE=0 -o unkeyed.json)
bench_test(TuneRefusesAnEnvironmentThatItWouldNotTry STATUS 2 MATCH "--environment needs --layers both"
  COMMAND ${small_tune} --layers choice --environment NCCL_MIN_NCHANNELS=16 -o layers.json)
bench_test(TuneMeasuresUnderWhatAnEngineSets STATUS 0
  MATCH "as sglang 0\\.5\\.23 starts a server: NCCL_CUMEM_ENABLE=0 NCCL_GRAPH_REGISTER=0 NCCL_NVLS_ENABLE=0.*fake-nccl: NCCL_GRAPH_REGISTER=0"
  ENVIRONMENT FAKE_NCCL_SHOWS=NCCL_GRAPH_REGISTER
  COMMAND ${small_tune} --layers choice --engine sglang -o engine.json)
bench_test(TuneRefusesAnUnknownEngine STATUS 2 MATCH "unknown engine .triton.: expected one of sglang, vllm"
  COMMAND ${small_tune} --engine triton -o engine.json)
bench_test(TuneSaysThatTheBudgetEndedTheSearch STATUS 0 MATCH "the budget ended the search"
  COMMAND tune --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 56K --prefill 1M --budget 1 -o short.json)
bench_test(TunePutsAWrongEnvironmentIntoTheProfileAsUnsafe STATUS 0
  MATCH "best: NCCL_BUFFSIZE=524288 NCCL_LL128_BUFFSIZE=307200 NCCL_MIN_NCHANNELS=32.*\"unsafe\":.*\"NCCL_MIN_NCHANNELS\": \"16\".*wrong sums"
  COMMAND ${small_tune} --inject wrong:1 --inject-in NCCL_MIN_NCHANNELS=16 -o unsafe.json && cat unsafe.json)

# As mpirun starts ranks: each has its number in the environment, and none has started another.
add_test(NAME Bench.JoinsTheRanksThatMpirunStarts COMMAND sh
  ${CMAKE_CURRENT_SOURCE_DIR}/fake_gpu/mpirun.sh $<TARGET_FILE:fake-bench> compare
  --plugin $<TARGET_FILE:nccl-tuner-lanewise> --bytes 14K --rounds 2 --most-rounds 2 --arm noop
  --arm tree/ll/4 --timeout 20)
set_tests_properties(Bench.JoinsTheRanksThatMpirunStarts PROPERTIES
  PASS_REGULAR_EXPRESSION "14 KiB .*tree/ll/4 [12]\\..*status 0 0, nothing left" TIMEOUT 300 RUN_SERIAL ON
  ENVIRONMENT "LD_LIBRARY_PATH=$<TARGET_FILE_DIR:fake-nccl>")
only_plain(Bench.JoinsTheRanksThatMpirunStarts)

# The one-shot floor of a compare, on the fake GPU: its ranks reach each other only as threads.
bench_test(ShowsTheOneShotFloorBesideTheArms STATUS 0
  MATCH "one-shot: us ratio.*14 KiB .*     5\\.00  [0-9]\\.[0-9]*\n.*\"one_shot\": \\[[^]]*\"us\": 5\\.0"
  COMMAND ${small_compare} --ranks 4 --threads --json floor.json && cat floor.json)
bench_test(SaysOnceWhyThereIsNoFloor STATUS 0
  MATCH "no one-shot column: .*cannot map another process.*14 KiB .*     -      -\n"
  COMMAND ${small_compare})
bench_test(LeavesTheFloorOutOnRequest STATUS 0 MATCH "choice *\n *14 KiB "
  COMMAND ${small_compare} --ranks 4 --threads --no-one-shot)
bench_test(TakesTheFloorAsAnArm STATUS 0 MATCH "one-shot: us ratio .95.*14 KiB .*    5\\.00  *[0-9]"
  COMMAND ${small_compare} --ranks 4 --threads --arm stock --arm one-shot)

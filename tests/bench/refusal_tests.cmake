# What the bench refuses before it measures, on the fake GPU: its message is all that is printed.
bench_test(RefusesAFolderAsAResult STATUS 2
  MATCH "^lanewise-bench: results/: expected a regular file to replace\n"
  ENVIRONMENT "mkdir -p results &&" COMMAND ${small_compare} --json results/)
bench_test(RefusesAFolderAsAProfile STATUS 2
  MATCH "^lanewise-bench: results: expected a regular file to replace\n"
  ENVIRONMENT "mkdir -p results &&" COMMAND ${small_tune} -o results)
bench_test(RefusesAProfileThatEveryoneMayReplace STATUS 2
  MATCH "^lanewise-bench: open/profile.json: expected a folder where not everyone may replace it"
  ENVIRONMENT "mkdir -p open && chmod 777 open &&" COMMAND ${small_tune} -o open/profile.json)
bench_test(EnvironmentsRefusesAFolderAsAResult STATUS 2
  MATCH "^lanewise-bench: results: expected a regular file to replace\n"
  ENVIRONMENT "mkdir -p results &&" COMMAND ${small_search} --json results)

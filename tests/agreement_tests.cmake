lanewise_test(agreement_search_test lanewise::core)
# Millions of steps: a second with optimisation, a minute without.
target_compile_options(agreement_search_test PRIVATE -O2)
lanewise_test(agreement_test lanewise::host)

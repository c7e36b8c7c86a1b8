# Tests of the wave model and of the policy made from it.
lanewise_test(waves_test lanewise::core)
lanewise_test(latency_test lanewise::core)
lanewise_test(link_evidence_test lanewise::core)
lanewise_test(prices_test lanewise::host stock_tables LABEL shared)
lanewise_test(wave_policy_test stock_tables LABEL shared)
lanewise_test(composite_policy_test lanewise::core)
lanewise_test(policy_properties_test lanewise::core)
lanewise_test(replay_test stock_tables LABEL shared)

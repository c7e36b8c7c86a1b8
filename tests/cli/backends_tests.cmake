# `lanewise backends` as people see it.
function(backends_test name status text)
  add_test(NAME BackendsCommand.${name} COMMAND ${check_output} ${status} ${text}
    $<TARGET_FILE:lanewise> backends ${ARGN})
endfunction()
set(sglang --engine sglang --engine-version 0.5.23 --ranks 8 --capability 120 --hidden 6144)
backends_test(TellsWhoTakesACall 0
  "decode, verify: graph   1       12 KiB    NCCL by PyNccl  (Lanewise is asked)" ${sglang})
backends_test(OffersTheFasterKernelFirst 0
  "with one change\n  SGLANG_ENABLE_PCIE_IPC_ALLREDUCE=1: FlashInfer PCIe IPC takes" ${sglang})
backends_test(GivesAFigureWithItsSource 0
  "measured: 5.3 us at 12 KiB where NCCL took 205.1 (comment in SGLang's pcie_ipc_ar.py" ${sglang})
backends_test(TakesSettings 0 "12 KiB    FlashInfer PCIe IPC"
  ${sglang} --set SGLANG_ENABLE_PCIE_IPC_ALLREDUCE=1)
backends_test(WritesJson 0 "{\"schema_version\":1,\"engine\":\"vllm\",\"release\":\"0.33.0\","
  --engine vllm --engine-version 0.33.0 --ranks 4 --capability 89 --json)
backends_test(SaysThatAReleaseIsUnknown 2
  "sglang 0.4.0: its conditions are unknown"
  --engine sglang --engine-version 0.4.0 --ranks 8 --capability 120)
backends_test(NamesAnUnknownSetting 2 "--set FAST=1: expected one of --disable-custom-all-reduce,"
  ${sglang} --set FAST=1)
backends_test(NamesAMissingProcess 2 "--pid 4194999: expected a running process"
  ${sglang} --pid 4194999)

// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// NCCL's plugin ABI in our own words, from its documented layout: C enums are ints, an exported
// plugin is a data object of function pointers. Only adapters and translate may include this.
#include <cstddef>
#include <cstdint>

namespace lanewise::abi {

using Result = int;    // ncclResult_t
using Function = int;  // ncclFunc_t; a tuner is asked about 0..4 only
inline constexpr Result success = 0;

// ncclDebugLogger_t: valid while libnccl is loaded. May be null in hosts that have none.
using DebugLogger = void (*)(int level, unsigned long subsystems, const char* file, int line,
                             const char* format, ...);

// Filled alike on every system: no evidence of NVLink. Never read here.
struct NvlDomainInfo;
// In and out: edits would change NCCL's own cost model. Never touched here.
struct TunerConstants;

// `context` may be null everywhere. Outputs left untouched leave NCCL its own choice; any result
// but success is fatal to the communicator or the collective.
using TunerInitV2 = Result (*)(std::size_t ranks, std::size_t nodes, DebugLogger, void** context);
using TunerInitV5 = Result (*)(void** context, std::uint64_t communicator, std::size_t ranks,
                               std::size_t nodes, DebugLogger, NvlDomainInfo*, TunerConstants*);
// `table` is the address of a contiguous float[algorithms][protocols], not of row pointers.
using TunerAnswerV3 = Result (*)(void* context, Function, std::size_t bytes, int pipe_ops,
                                 float** table, int algorithms, int protocols, int* channels);
using TunerAnswerV4 = Result (*)(void* context, Function, std::size_t bytes, int pipe_ops,
                                 float** table, int algorithms, int protocols, int is_registered,
                                 int* channels);
using TunerClose = Result (*)(void* context);

struct TunerV2 {
  const char* name;
  TunerInitV2 init;
  Result (*get_coll_info)(void* context, Function, std::size_t bytes, int has_collnet, int has_nvls,
                          int pipe_ops, int* algorithm, int* protocol, int* channels);
  TunerClose destroy;
};

struct TunerV3 {
  const char* name;
  TunerInitV2 init;
  TunerAnswerV3 get_coll_info;
  TunerClose destroy;
};

struct TunerV4 {
  const char* name;
  TunerInitV2 init;
  TunerAnswerV4 get_coll_info;
  TunerClose destroy;
};

struct TunerV5 {
  const char* name;
  TunerInitV5 init;
  TunerAnswerV4 get_coll_info;
  TunerClose finalize;
};

struct TunerV6 {
  const char* name;
  TunerInitV5 init;
  TunerAnswerV4 get_coll_info;
  TunerClose finalize;
  // Null leaves NCCL's chunk size.
  Result (*get_chunk_size)(void* context, Function, std::size_t bytes, int algorithm, int protocol,
                           int channels, std::size_t* chunk_bytes);
};

// The same members: only the constants, which nobody here reads, have one more column a row.
using TunerV7 = TunerV6;

}  // namespace lanewise::abi

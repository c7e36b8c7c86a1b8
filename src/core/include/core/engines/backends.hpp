// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors
#pragma once

// Which all-reduce of a serving engine takes a call, from that release's own conditions; pure. The
// conditions are data (host/engines/backends.json): what is not in there is unknown.
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lanewise {

// One call: "ranks", "capability", "nvlink", "peer_access", "multicast", "captured", "dtype",
// "bytes", "tokens", "max_decode_tokens", and the engine's settings by their names. Numbers are
// written as such, a truth as 1 or 0.
using CallFacts = std::map<std::string, std::string, std::less<>>;

struct Condition {
  std::string fact;                 // or setting; empty where `any` or `unless` has the say
  std::vector<std::string> one_of;  // empty: not asked
  std::optional<long long> at_least;
  std::optional<long long> at_most;
  std::string at_most_fact;         // at most what this fact says; empty: not asked
  std::vector<Condition> any;       // one of them holds
  std::vector<Condition> all;       // each of them holds
  std::vector<std::string> unless;  // none of these backends could take the call
  std::string otherwise;            // what to say where it does not hold
};

struct Backend {
  std::string name;
  bool is_nccl = false;  // NCCL's own kernels: Lanewise's plugin is asked
  std::string source;    // the file of the engine that the conditions were read from
  std::string limits;    // for people; empty: none
  std::vector<Condition> needs;
};

struct EngineSetting {
  std::string name;   // a flag with its dashes, or a variable
  std::string value;  // where the user sets nothing
};

// A time that someone measured, with its source.
struct BackendFigure {
  std::string backend;
  int capability = 0;
  int ranks = 0;
  std::size_t bytes = 0;
  double us = 0;
  double nccl_us = 0;
  std::string source;
};

struct EngineRelease {
  std::string engine;
  std::string release;
  std::vector<EngineSetting> settings;
  std::vector<Backend> backends;  // in the order in which the engine asks them
  std::vector<BackendFigure> figures;
};

// The engine's settings at their defaults, under those that the caller knows.
[[nodiscard]] CallFacts with_defaults(const EngineRelease& engine, CallFacts facts);

// Why this backend does not take the call; empty: it could.
[[nodiscard]] std::vector<std::string> refusals(const EngineRelease& engine, const Backend& backend,
                                                const CallFacts& facts);

// The first that takes it; nullptr: none of the list.
[[nodiscard]] const Backend* find_taker(const EngineRelease& engine, const CallFacts& facts);

// A setting that, changed alone, gives the call to another backend.
struct OneChange {
  EngineSetting setting;  // with its new value
  const Backend* taker = nullptr;
};
[[nodiscard]] std::vector<OneChange> find_changes(const EngineRelease& engine,
                                                  const CallFacts& facts);

// The figure of these GPUs and ranks nearest in size, within a factor of two; nullptr: there is
// none.
[[nodiscard]] const BackendFigure* find_figure(const EngineRelease& engine,
                                               std::string_view backend, const CallFacts& facts);

}  // namespace lanewise

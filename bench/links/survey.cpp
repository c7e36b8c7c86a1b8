// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "survey.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <sstream>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

struct Step {
  ProbeKind kind;
  std::optional<double> PairResult::*value;
};

constexpr std::array<Step, 3> pair_steps = {{
    {ProbeKind::latency, &PairResult::latency_us},
    {ProbeKind::store, &PairResult::store_us},
    {ProbeKind::bandwidth, &PairResult::one_way_gbs},
}};

bool has_peer_access(const LinkMachine& machine, const Flow& flow) {
  const auto from = static_cast<std::size_t>(flow.from);
  const auto to = static_cast<std::size_t>(flow.to);
  return machine.peer_access.at(from).at(to) && machine.peer_access.at(to).at(from);
}

class Surveyor {
 public:
  Surveyor(LinkTester& tester, const LinkMachine& machine, const SurveyPlan& plan)
      : tester_(tester), plan_(plan) {
    report_.machine = machine;
  }

  LinkReport run() {
    for (const Method method : plan_.methods) {
      for (const Flow& flow : plan_.flows) {
        if (is_possible(flow, method)) report_.pairs.push_back(measure_pair(flow, method));
      }
      measure_both_ways(method);
    }
    measure_all_pairs();
    for (const Scenario& scenario : plan_.scenarios) measure_scenario(scenario);
    add_notes();
    return std::move(report_);
  }

 private:
  [[nodiscard]] bool is_possible(const Flow& flow, Method method) const {
    if (flow.from == flow.to) return method == Method::host;
    return method == Method::host || has_peer_access(report_.machine, flow);
  }

  [[nodiscard]] Reading ask(const Probe& probe) {
    if (plan_.on_probe) plan_.on_probe(probe);
    Reading reading = tester_.measure(probe);
    if (!reading.error && reading.values.size() != probe.flows.size()) {
      reading.error = "the tester gave " + std::to_string(reading.values.size()) +
                      " values in place of " + std::to_string(probe.flows.size());
    }
    return reading;
  }

  [[nodiscard]] PairResult measure_pair(const Flow& flow, Method method) {
    PairResult result;
    result.flow = flow;
    result.method = method;
    for (const Step& step : pair_steps) {
      if (step.kind == ProbeKind::bandwidth && flow.from == flow.to) continue;
      const Reading reading = ask({step.kind, method, {flow}});
      if (reading.error) {
        result.error = std::string(name_of(step.kind)) + ": " + *reading.error;
        break;
      }
      result.*step.value = reading.values.front();
    }
    return result;
  }

  PairResult* find_sound(const Flow& flow, Method method) {
    for (PairResult& pair : report_.pairs) {
      if (pair.flow == flow && pair.method == method && !pair.error) return &pair;
    }
    return nullptr;
  }

  void measure_both_ways(Method method) {
    for (const Flow& flow : plan_.flows) {
      PairResult* there = find_sound(flow, method);
      PairResult* back = find_sound({flow.to, flow.from}, method);
      if (flow.from >= flow.to || there == nullptr || back == nullptr) continue;
      const Reading reading = ask({ProbeKind::bandwidth, method, {flow, back->flow}});
      for (PairResult* pair : {there, back}) {
        if (reading.error) {
          pair->error = "bandwidth both ways: " + *reading.error;
        } else {
          pair->both_ways_gbs = reading.values.front() + reading.values.back();
        }
      }
    }
  }

  void measure_all_pairs() {
    for (const Method method : plan_.methods) {
      Probe probe{ProbeKind::bandwidth, method, {}};
      for (const PairResult& pair : report_.pairs) {
        if (pair.method == method && pair.flow.from != pair.flow.to && !pair.error) {
          probe.flows.push_back(pair.flow);
        }
      }
      if (probe.flows.size() < 2) continue;
      const Reading reading = ask(probe);
      report_.all_pairs_error = reading.error;
      if (!reading.error) {
        report_.all_pairs_gbs = std::accumulate(reading.values.begin(), reading.values.end(), 0.0);
      }
      // The faster method stands for the machine.
      return;
    }
  }

  void measure_scenario(const Scenario& scenario) {
    for (const Method method : plan_.methods) {
      ContentionResult result{scenario, method, {}, {}, std::nullopt};
      for (const Flow& flow : scenario.flows) {
        const PairResult* pair = find_sound(flow, method);
        if (pair != nullptr && pair->one_way_gbs) result.alone_gbs.push_back(*pair->one_way_gbs);
      }
      if (result.alone_gbs.size() != scenario.flows.size()) continue;
      const Reading reading = ask({ProbeKind::bandwidth, method, scenario.flows});
      result.together_gbs = reading.values;
      result.error = reading.error;
      report_.contention.push_back(std::move(result));
      return;
    }
  }

  [[nodiscard]] bool has_peer_pairs() const {
    return std::any_of(report_.pairs.begin(), report_.pairs.end(),
                       [](const PairResult& pair) { return pair.method == Method::peer; });
  }

  void add_notes() {
    const auto count = report_.machine.size();
    if (count == 1) {
      report_.notes.emplace_back("one GPU: only its latency through host memory can be measured");
    }
    const bool has_asked = std::count(plan_.methods.begin(), plan_.methods.end(), Method::peer) > 0;
    if (count > 1 && has_asked && !has_peer_pairs()) {
      report_.notes.emplace_back("no pair has peer access: host memory only");
    }
  }

  LinkTester& tester_;
  const SurveyPlan& plan_;
  LinkReport report_;
};

}  // namespace

std::vector<Flow> all_flows(std::size_t gpus) {
  std::vector<Flow> flows;
  for (int from = 0; from < static_cast<int>(gpus); ++from) {
    for (int to = 0; to < static_cast<int>(gpus); ++to) flows.push_back({from, to});
  }
  return flows;
}

std::vector<Flow> parse_pairs(const std::string& text, std::size_t gpus) {
  if (text == "all") return all_flows(gpus);
  std::vector<Flow> flows;
  std::istringstream items(text);
  for (std::string item; std::getline(items, item, ',');) {
    std::string arrow = item;
    std::replace(arrow.begin(), arrow.end(), '-', '>');
    const Flow flow = parse_flow(arrow);
    const int count = static_cast<int>(gpus);
    if (flow.from >= count || flow.to >= count) {
      throw Error("--pairs " + item + ": this machine has " + std::to_string(count) + " GPUs");
    }
    flows.push_back(flow);
    if (flow.from != flow.to) flows.push_back({flow.to, flow.from});
  }
  if (flows.empty()) throw Error("--pairs: expected all or pairs such as 0-1,2-3");
  return flows;
}

LinkReport survey(LinkTester& tester, const LinkMachine& machine, const SurveyPlan& plan) {
  return Surveyor(tester, machine, plan).run();
}

}  // namespace lanewise::bench

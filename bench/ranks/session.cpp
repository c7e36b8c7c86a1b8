// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "session.hpp"

#include <cstdlib>
#include <stdexcept>

#include "gpu/cuda_check.hpp"

namespace lanewise::bench {
namespace {

// Takes the GPU's place in the count of ranks: rank r runs on GPU r modulo GPUs.
int choose_device(int rank) {
  int count = 0;
  check_cuda(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  const int device = rank % count;
  check_cuda(cudaSetDevice(device), "cudaSetDevice");
  return device;
}

int read_attribute(int device, cudaDeviceAttr attribute) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, attribute, device), "cudaDeviceGetAttribute");
  return value;
}

std::size_t read_free_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  return free;
}

}  // namespace

nlohmann::json Session::run(std::string_view operation, const nlohmann::json& request) {
  struct Operation {
    std::string_view name;
    nlohmann::json (Session::*function)(const nlohmann::json&);
  };
  static constexpr std::array operations = {
      Operation{"open", &Session::open},       Operation{"probe", &Session::probe},
      Operation{"prepare", &Session::prepare}, Operation{"time", &Session::time},
      Operation{"soak", &Session::soak},       Operation{"memory", &Session::memory},
      Operation{"drop", &Session::drop}};
  for (const Operation& known : operations) {
    if (known.name == operation) return (this->*known.function)(request);
  }
  throw std::runtime_error("unknown operation " + std::string(operation));
}

nlohmann::json Session::open(const nlohmann::json& request) {
  link_.begin("choosing its GPU");
  // Ranks that somebody else has started have their variables from here, before NCCL is opened.
  for (const auto& [name, value] : request.at("variables").items()) {
    setenv(name.c_str(), value.get<std::string>().c_str(), 1);
  }
  device_ = choose_device(link_.rank());
  check_cuda(cudaFree(nullptr), "creating the CUDA context");
  cycles_per_us_ = read_attribute(device_, cudaDevAttrClockRate) / 1000.0;
  multiprocessors_ = read_attribute(device_, cudaDevAttrMultiProcessorCount);
  type_ = parse_data_type(request.at("type").get<std::string>());
  collective_ = parse_collective(request.at("collective").get<std::string>()).value();
  if (collective_ != Collective::all_reduce && !open_nccl().has_all_collectives())
    throw std::runtime_error(open_nccl().path + " has no collective but the all-reduce");
  const auto plugin = request.at("plugin").get<std::string>();
  const auto inject = request.at("inject").get<std::string>();
  if (!inject.empty()) injection_ = parse_injection(inject);
  if (!plugin.empty() && link_.leads_process()) control_.emplace(plugin);
  link_.begin("allocating its buffers");
  link_.barrier();
  free_before_ = read_free_memory();
  link_.barrier();
  buffers_ = std::make_unique<Buffers>(request.at("max_bytes").get<std::size_t>());
  timer_ = std::make_unique<Timer>();
  link_.barrier();
  link_.begin("creating its communicator on GPU " + std::to_string(device_));
  communicator_ = std::make_unique<Communicator>(link_);
  link_.begin("loading its kernels");
  warm_own_kernels();
  return {{"nccl", to_string(open_nccl().release())}, {"nccl_path", open_nccl().path}};
}

void Session::warm_own_kernels() {
  // Modules load lazily, at the first launch, and loading waits for the device.
  const InputCode code{Pattern::random, 1, link_.rank()};
  const std::size_t bytes = size_of(type_);
  const cudaStream_t stream = communicator_->stream();
  check_cuda(fill_input({buffers_->input(), 1, type_}, code, stream), "fill_input");
  buffers_->arm_guards(bytes, stream);
  buffers_->queue_checks(bytes, type_, code, 1, stream);
  check_cuda(spin(1, stream), "spin");
  timer_->start(stream);
  timer_->stop(stream);
  communicator_->wait();
  link_.barrier();
}

void Session::begin(std::string_view what, const Prepared& prepared) {
  link_.begin(std::string(what) + " " + prepared.candidate.name + " at " +
                  std::to_string(prepared.bytes) + " bytes",
              prepared.candidate.id);
}

void Session::steer(const Candidate& candidate) {
  // All calls queued before have been decided, none after until the choice is set.
  link_.barrier();
  if (control_) {
    control_->release();
    control_->set_arm(candidate.forced ? ControlMode::settings : candidate.arm);
    if (candidate.forced) control_->force(*candidate.forced);
    control_->watch();
  }
  link_.barrier();
}

Session::Prepared Session::plan(const Candidate& candidate, const Batch& batch) {
  return {candidate, batch.bytes, batch.calls, batch.mode, batch.gap_us, batch.trace, {}};
}

nlohmann::json Session::probe(const nlohmann::json& request) {
  const auto batch = request.get<Batch>();
  std::vector<Verification> verifications;
  for (const Candidate& candidate : batch.candidates) {
    Prepared prepared = plan(candidate, batch);
    verifications.push_back(capture(prepared));
  }
  return verifications;
}

nlohmann::json Session::prepare(const nlohmann::json& request) {
  const auto batch = request.get<Batch>();
  if (batch.bytes > buffers_->max_bytes()) throw std::runtime_error("larger than the buffers");
  std::vector<Verification> verifications;
  for (const Candidate& candidate : batch.candidates) {
    Prepared prepared = plan(candidate, batch);
    Verification verification = capture(prepared);
    if (verification.refusal.empty()) {
      instantiate(prepared);
      verify(prepared, batch.seed, verification);
      prepared_.insert_or_assign(candidate.id, std::move(prepared));
    }
    verifications.push_back(std::move(verification));
  }
  return verifications;
}

Verification Session::capture(Prepared& prepared) {
  begin("capturing", prepared);
  steer(prepared.candidate);
  // Also for eager calls: the capture connects the algorithm's channels while nothing runs.
  prepared.graph.capture(communicator_->stream(), [&] { queue_calls(prepared); });
  link_.barrier();
  Verification verification;
  verification.id = prepared.candidate.id;
  verification.shape = prepared.graph.shape();
  if (control_) verification.answer = control_->last_answer();
  verification.refusal = find_refusal(prepared.candidate, verification);
  return verification;
}

// All ranks must agree on going on, but leaders alone have asked the plugin, and GPUs may differ in
// how many ranks they have. What would hang is told by its captured launch: nothing runs yet.
std::string Session::find_refusal(const Candidate& candidate, const Verification& found) {
  const bool is_unpriced =
      candidate.forced && control_ && !(found.answer && found.answer->is_applied);
  const int ranks = ranks_of_this_gpu();
  const bool is_crowded =
      ranks > 1 && found.shape && found.shape->channels * ranks > multiprocessors_;
  if (link_.gather_max(is_unpriced ? 1 : 0) > 0) return "not priced by NCCL";
  const double blocks = link_.gather_max(is_crowded ? found.shape->channels * ranks : 0);
  if (blocks == 0) return {};
  return std::to_string(static_cast<int>(blocks)) + " blocks are too many for a GPU";
}

void Session::instantiate(Prepared& prepared) {
  begin("instantiating the graph of", prepared);
  if (prepared.mode == CallMode::graph) {
    prepared.graph.instantiate(communicator_->stream());
  } else {
    // NCCL launches eager calls by another way while a captured one is alive.
    prepared.graph = CallGraph();
  }
  communicator_->wait();
  link_.barrier();
}

void Session::queue_calls(const Prepared& prepared) {
  for (const std::size_t bytes : prepared.trace) queue_call(prepared, bytes);
  if (!prepared.trace.empty()) return;
  for (int call = 0; call < prepared.calls; ++call) queue_call(prepared, prepared.bytes);
}

void Session::queue_call(const Prepared& prepared, std::size_t bytes) {
  const cudaStream_t stream = communicator_->stream();
  if (prepared.gap_us > 0) {
    check_cuda(spin(static_cast<long long>(prepared.gap_us * cycles_per_us_), stream), "spin");
  }
  communicator_->call(collective_, buffers_->input(), buffers_->output(), bytes, type_);
}

void Session::run_calls(const Prepared& prepared) {
  if (prepared.mode == CallMode::graph) {
    prepared.graph.launch(communicator_->stream());
  } else {
    queue_calls(prepared);
  }
}

nlohmann::json Session::time(const nlohmann::json& request) {
  const int launches = request.at("launches").get<int>();
  std::vector<double> times;
  for (const int id : request.at("ids").get<std::vector<int>>()) {
    times.push_back(link_.gather_max(time_once(find(id), launches)));
  }
  return times;
}

const Session::Prepared& Session::find(int id) const {
  const auto found = prepared_.find(id);
  if (found == prepared_.end()) throw std::runtime_error("this candidate is not prepared");
  return found->second;
}

double Session::time_once(const Prepared& prepared, int launches) {
  begin("timing", prepared);
  if (prepared.mode == CallMode::eager) steer(prepared.candidate);
  if (injection_.kind != FaultInjection::Kind::wrong) inject_fault(prepared);
  const cudaStream_t stream = communicator_->stream();
  link_.barrier();
  // The first run lines the ranks up on the GPUs; the timed ones are queued behind it.
  run_calls(prepared);
  timer_->start(stream);
  for (int launch = 0; launch < launches; ++launch) run_calls(prepared);
  timer_->stop(stream);
  begin("waiting for the GPU to time", prepared);
  communicator_->wait();
  const double us = timer_->microseconds() / (launches * prepared.calls);
  link_.barrier();
  return us;
}

nlohmann::json Session::memory(const nlohmann::json&) {
  link_.begin("reading its GPU's free memory");
  link_.barrier();
  const auto free = read_free_memory();
  link_.barrier();
  const auto taken = static_cast<long long>(free_before_) - static_cast<long long>(free);
  return {{"bytes", taken / ranks_of_this_gpu()}};
}

int Session::ranks_of_this_gpu() const {
  int devices = 0;
  check_cuda(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
  return (link_.ranks() - device_ + devices - 1) / devices;
}

nlohmann::json Session::drop(const nlohmann::json& request) {
  link_.begin("dropping its graphs");
  link_.barrier();
  for (const int id : request.at("ids").get<std::vector<int>>()) prepared_.erase(id);
  link_.barrier();
  return nlohmann::json::object();
}

}  // namespace lanewise::bench

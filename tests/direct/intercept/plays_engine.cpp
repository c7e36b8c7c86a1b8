// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Plays an engine whose ranks are processes: linked to NCCL as torch is, or with its functions
// looked up in the file of PLAYER_LIBRARY as PyNccl does. Usage: plays_engine SCENE. Each rank says
// how many of its all-reduces reached NCCL, and what was wrong.
#include <dlfcn.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "fake_gpu/fake_cuda.hpp"

struct ncclComm;
using Comm = ncclComm*;
struct UniqueId {
  char bytes[128];
};
struct Config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;
};

extern "C" {
int ncclAllReduce(const void*, void*, std::size_t, int, int, Comm, CUstream_st*);
int ncclBroadcast(const void*, void*, std::size_t, int, int, Comm, CUstream_st*);
int ncclCommInitRank(Comm*, int, UniqueId, int);
int ncclCommInitRankConfig(Comm*, int, UniqueId, int, Config*);
int ncclCommSplit(Comm, int, int, Comm*, Config*);
int ncclCommFinalize(Comm);
int ncclCommDestroy(Comm);
int ncclCommAbort(Comm);
int ncclGroupStart();
int ncclGroupEnd();
int ncclGroupSimulateEnd(void*);
int fake_nccl_all_reduces();
int fake_nccl_open_groups();
int fake_nccl_ended();
}

namespace {

constexpr int ranks = 2;
constexpr int int32 = 2, float16 = 6, float32 = 7, sum = 0, largest = 2;

struct Nccl {
  decltype(&ncclAllReduce) all_reduce = ncclAllReduce;
  decltype(&ncclBroadcast) broadcast = ncclBroadcast;
  decltype(&ncclCommInitRank) init_rank = ncclCommInitRank;
  decltype(&ncclCommInitRankConfig) init_rank_config = ncclCommInitRankConfig;
  decltype(&ncclCommSplit) split = ncclCommSplit;
  decltype(&ncclCommFinalize) finalize = ncclCommFinalize;
  decltype(&ncclCommDestroy) destroy = ncclCommDestroy;
  decltype(&ncclCommAbort) abort = ncclCommAbort;
  decltype(&ncclGroupStart) group_start = ncclGroupStart;
  decltype(&ncclGroupEnd) group_end = ncclGroupEnd;
  decltype(&ncclGroupSimulateEnd) group_simulate_end = ncclGroupSimulateEnd;
  void* library = nullptr;
};

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function == nullptr) {
    std::printf("no %s\n", name);
    std::_Exit(1);
  }
}

Nccl open_nccl() {
  Nccl nccl;
  const char* file = std::getenv("PLAYER_LIBRARY");
  if (file == nullptr) return nccl;
  nccl.library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (nccl.library == nullptr) {
    std::printf("%s\n", dlerror());
    std::_Exit(1);
  }
  find(nccl.library, "ncclAllReduce", nccl.all_reduce);
  find(nccl.library, "ncclBroadcast", nccl.broadcast);
  find(nccl.library, "ncclCommInitRank", nccl.init_rank);
  find(nccl.library, "ncclCommInitRankConfig", nccl.init_rank_config);
  find(nccl.library, "ncclCommSplit", nccl.split);
  find(nccl.library, "ncclCommFinalize", nccl.finalize);
  find(nccl.library, "ncclCommDestroy", nccl.destroy);
  find(nccl.library, "ncclCommAbort", nccl.abort);
  find(nccl.library, "ncclGroupStart", nccl.group_start);
  find(nccl.library, "ncclGroupEnd", nccl.group_end);
  find(nccl.library, "ncclGroupSimulateEnd", nccl.group_simulate_end);
  return nccl;
}

// One rank with its communicator; what it does is a scene.
class Engine {
 public:
  Engine(int rank_in, const UniqueId& id_in) : rank(rank_in), id(id_in) {
    fake_use_device(rank);
    cuStreamCreate(&stream, 1);
  }

  Comm init() {
    Comm made = nullptr;
    expect(nccl.init_rank(&made, ranks, id, rank) == 0, "init");
    return made;
  }
  // Sums `count` floats; false where they are not the sum, as where NCCL was asked.
  bool reduce(Comm communicator, std::size_t count, int members = ranks) {
    std::vector<float> data(count);
    for (std::size_t i = 0; i < count; ++i)
      data[i] = static_cast<float>(rank + 1) + static_cast<float>(i % 7);
    expect(
        nccl.all_reduce(data.data(), data.data(), count, float32, sum, communicator, stream) == 0,
        "all-reduce");
    cuStreamSynchronize(stream);
    return is_sum(data, members);
  }
  [[nodiscard]] bool is_sum(const std::vector<float>& data, int members = ranks) const {
    for (std::size_t i = 0; i < data.size(); ++i) {
      const float each = static_cast<float>(members) * static_cast<float>(i % 7);
      const float of_ranks = members == ranks ? 3.0F : static_cast<float>(rank + 1);
      if (data[i] != each + of_ranks) return false;
    }
    return true;
  }
  void expect(bool claim, const char* what) {
    if (claim) return;
    std::printf("rank %d: WRONG %s\n", rank, what);
    is_wrong = true;
  }

  int rank;
  UniqueId id;
  Nccl nccl = open_nccl();
  CUstream_st* stream = nullptr;
  bool is_wrong = false;
};

double seconds_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void play_sums(Engine& engine) {
  Comm comm = engine.init();
  for (const std::size_t count : {1, 5, 700, 9000})
    engine.expect(engine.reduce(comm, count), "sum");
  engine.expect(engine.nccl.broadcast(nullptr, nullptr, 1, float32, 0, comm, engine.stream) == 0,
                "broadcast");
  engine.nccl.destroy(comm);
}

void play_others(Engine& engine) {
  Comm comm = engine.init();
  std::vector<float> data(16);
  const auto call = [&](std::size_t count, int type, int operation) {
    engine.nccl.all_reduce(data.data(), data.data(), count, type, operation, comm, engine.stream);
  };
  call(16, int32, sum);
  call(16, float32, largest);
  call(0, float32, sum);
  call(1 << 20, float32, sum);
  engine.nccl.destroy(comm);
}

// A graph that is replayed, calls of two sizes, and one that direct leaves; then what is counted.
void play_counted(Engine& engine) {
  Comm comm = engine.init();
  for (const std::size_t count : {1, 1, 9000}) engine.expect(engine.reduce(comm, count), "sum");
  std::vector<float> in(700, 1.5F);
  std::vector<float> out(700);
  cuStreamBeginCapture_v2(engine.stream, 2);
  engine.nccl.all_reduce(in.data(), out.data(), 700, float32, sum, comm, engine.stream);
  CUgraph_st* graph = nullptr;
  cuStreamEndCapture(engine.stream, &graph);
  CUgraphExec_st* executable = nullptr;
  cuGraphInstantiateWithFlags(&executable, graph, 0);
  cuGraphDestroy(graph);
  for (int replay = 0; replay < 3; ++replay) cuGraphLaunch(executable, engine.stream);
  cuStreamSynchronize(engine.stream);
  engine.expect(out == std::vector<float>(700, 3.0F), "sum of a replay");
  engine.nccl.all_reduce(in.data(), out.data(), 16, int32, sum, comm, engine.stream);
  std::fflush(stdout);
  const std::string show =
      std::string(std::getenv("PLAYER_STATS")) + " stats " + std::to_string(getpid());
  engine.expect(std::system(show.c_str()) == 0, "stats");
  cuGraphExecDestroy(executable);
  engine.nccl.destroy(comm);
}

void play_groups(Engine& engine) {
  Comm comm = engine.init();
  engine.id.bytes[127] = 1;
  Comm other = engine.init();
  engine.nccl.group_start();
  std::vector<float> data(700);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(engine.rank + 1) + static_cast<float>(i % 7);
  auto second = data;
  const auto call = [&](std::vector<float>& of, Comm in, int operation) {
    engine.nccl.all_reduce(of.data(), of.data(), of.size(), float32, operation, in, engine.stream);
  };
  // Alone in its communicator, in a nested group, in an order of each rank's own: direct.
  engine.nccl.group_start();
  if (engine.rank == 0) call(data, comm, sum);
  call(second, other, sum);
  if (engine.rank != 0) call(data, comm, sum);
  engine.nccl.group_end();
  engine.nccl.group_end();
  cuStreamSynchronize(engine.stream);
  engine.expect(engine.is_sum(data) && engine.is_sum(second), "group");
  std::printf("rank %d: alone %d\n", engine.rank, fake_nccl_all_reduces());
  // Two of one communicator, and one beside one that is not taken: NCCL.
  engine.nccl.group_start();
  call(data, comm, sum);
  call(second, comm, sum);
  engine.nccl.group_end();
  engine.nccl.group_start();
  call(data, comm, largest);
  call(second, comm, sum);
  engine.nccl.group_end();
  // Only asked for a price.
  engine.nccl.group_start();
  call(data, comm, sum);
  engine.nccl.group_simulate_end(nullptr);
  engine.expect(fake_nccl_open_groups() == 0, "groups left open");
  engine.expect(engine.reduce(comm, 700), "sum after all");
  engine.nccl.destroy(comm);
  engine.nccl.destroy(other);
}

void play_split(Engine& engine) {
  Comm comm = engine.init();
  Comm whole = nullptr;
  engine.nccl.split(comm, engine.rank == 0 ? -1 : 1, 0, &whole, nullptr);
  engine.expect((whole == nullptr) == (engine.rank == 0), "child");
  engine.expect(engine.reduce(comm, 700), "parent");
  if (whole != nullptr) engine.nccl.destroy(whole);
  engine.nccl.destroy(comm);
}

void play_abort(Engine& engine) {
  Comm comm = engine.init();
  std::vector<float> data(700);
  if (engine.rank == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return;
  }
  engine.nccl.all_reduce(data.data(), data.data(), 700, float32, sum, comm, engine.stream);
  const double seconds = seconds_of([&] {
    engine.nccl.abort(comm);
    cuStreamSynchronize(engine.stream);
  });
  engine.expect(seconds < 1, "abort takes long");
  engine.expect(fake_nccl_ended() == 1, "NCCL's abort");
}

void play_broken_finalize(Engine& engine) {
  Comm comm = engine.init();
  std::vector<float> data(700);
  if (engine.rank == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return;
  }
  engine.nccl.all_reduce(data.data(), data.data(), 700, float32, sum, comm, engine.stream);
  setenv("FAKE_NCCL_BREAKS", "1", 1);
  const double seconds = seconds_of([&] {
    engine.nccl.finalize(comm);
    cuStreamSynchronize(engine.stream);
  });
  engine.expect(seconds < 1, "finalize takes long");
}

void play_dead(Engine& engine) {
  Comm comm = engine.init();
  if (engine.rank == 1) {
    raise(SIGKILL);
  }
  std::vector<float> data(700);
  engine.nccl.all_reduce(data.data(), data.data(), 700, float32, sum, comm, engine.stream);
  const double seconds = seconds_of([&] { engine.nccl.destroy(comm); });
  engine.expect(seconds < 1, "destroy takes long");
}

void play_late(Engine& engine) {
  Comm comm = engine.init();
  if (engine.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::vector<float> data(700);
  for (std::size_t i = 0; i < data.size(); ++i)
    data[i] = static_cast<float>(engine.rank + 1) + static_cast<float>(i % 7);
  engine.nccl.all_reduce(data.data(), data.data(), 700, float32, sum, comm, engine.stream);
  engine.nccl.destroy(comm);
  engine.expect(engine.is_sum(data), "sum of a late rank");
}

void play_absent(Engine& engine) {
  if (engine.rank == 1) return;
  Comm comm = nullptr;
  const double seconds = seconds_of([&] { comm = engine.init(); });
  engine.expect(seconds < 2, "init takes long");
  static_cast<void>(engine.reduce(comm, 700));
  engine.nccl.destroy(comm);
}

void play_differing(Engine& engine) {
  if (engine.rank == 1) setenv("LANEWISE_DIRECT", "1:999", 1);
  Comm comm = engine.init();
  static_cast<void>(engine.reduce(comm, 200));
  engine.nccl.destroy(comm);
}

void play_refused(Engine& engine) {
  if (engine.rank == 1) setenv("FAKE_CUDA_REFUSES", "cuMemHostRegister", 1);
  Comm comm = engine.init();
  static_cast<void>(engine.reduce(comm, 200));
  engine.nccl.destroy(comm);
}

// Shared memory that is full, as far as this process can see.
void play_full(Engine& engine) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{4096, 4096};
  setrlimit(RLIMIT_FSIZE, &limit);
  Comm comm = engine.init();
  static_cast<void>(engine.reduce(comm, 200));
  engine.nccl.destroy(comm);
}

void play_fork(Engine& engine) {
  Comm comm = engine.init();
  if (fork() == 0) std::exit(0);
  int status = 0;
  wait(&status);
  engine.expect(status == 0, "child");
  engine.expect(engine.reduce(comm, 700), "sum after a fork");
  engine.nccl.destroy(comm);
}

void play_reopening(Engine& engine) {
  for (int round = 0; round < 3; ++round) {
    engine.id.bytes[126] = static_cast<char>(1 + round);
    Comm comm = engine.init();
    engine.expect(engine.reduce(comm, 700), "sum");
    engine.nccl.destroy(comm);
    if (engine.nccl.library != nullptr) dlclose(engine.nccl.library);
    engine.nccl = open_nccl();
  }
}

void play_not_blocking(Engine& engine) {
  Comm comm = nullptr;
  Config config{sizeof(Config), 0xcafebeef, 23007, 0};
  engine.nccl.init_rank_config(&comm, ranks, engine.id, engine.rank, &config);
  static_cast<void>(engine.reduce(comm, 200));
  engine.nccl.destroy(comm);
}

void play_failing_launch(Engine& engine) {
  Comm comm = engine.init();
  setenv("FAKE_CUDA_REFUSES", "cuLaunchKernel", 1);
  float data[4] = {};
  const int status = engine.nccl.all_reduce(data, data, 4, float32, sum, comm, engine.stream);
  engine.expect(status == 1, "status of a launch that failed");
  engine.nccl.destroy(comm);
}

const std::map<std::string, void (*)(Engine&)> scenes = {
    {"sums", play_sums},
    {"others", play_others},
    {"counted", play_counted},
    {"groups", play_groups},
    {"split", play_split},
    {"abort", play_abort},
    {"broken-finalize", play_broken_finalize},
    {"dead", play_dead},
    {"late", play_late},
    {"absent", play_absent},
    {"differing", play_differing},
    {"refused", play_refused},
    {"full", play_full},
    {"fork", play_fork},
    {"reopening", play_reopening},
    {"not-blocking", play_not_blocking},
    {"failing-launch", play_failing_launch},
};

int play(int rank, const UniqueId& id, void (*scene)(Engine&)) {
  Engine engine(rank, id);
  scene(engine);
  std::printf("rank %d: %d calls reached NCCL%s\n", rank, fake_nccl_all_reduces(),
              engine.is_wrong ? ", WRONG" : "");
  std::fflush(stdout);
  return engine.is_wrong ? 1 : 0;
}

}  // namespace

int main(int count, char** words) {
  const auto scene = count == 2 ? scenes.find(words[1]) : scenes.end();
  if (scene == scenes.end()) return 2;
  UniqueId id{};
  std::snprintf(id.bytes, sizeof(id.bytes), "%d of %s", getpid(), words[1]);
  std::vector<pid_t> children;
  for (int rank = 0; rank < ranks; ++rank) {
    const pid_t child = fork();
    if (child == 0) std::exit(play(rank, id, scene->second));
    children.push_back(child);
  }
  int worst = 0;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) > worst) worst = WEXITSTATUS(status);
  }
  std::printf("status %d\n", worst);
  return worst;
}

// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

// Plays an engine whose ranks are processes: linked to NCCL as torch is, or with its functions
// looked up in the file of PLAYER_LIBRARY as PyNccl does. Usage: plays_engine SCENE. Each rank says
// how many of its all-reduces reached NCCL, and what was wrong.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "intercept/engine.hpp"

namespace {

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
  auto data = engine.part(700);
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

Scenes all_scenes() {
  Scenes scenes = trouble_scenes();
  scenes.merge(Scenes{
      {"sums", play_sums},
      {"others", play_others},
      {"counted", play_counted},
      {"groups", play_groups},
      {"split", play_split},
      {"fork", play_fork},
      {"reopening", play_reopening},
      {"not-blocking", play_not_blocking},
  });
  return scenes;
}

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
  const auto scenes = all_scenes();
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

// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "intercept/engine.hpp"

namespace {

void play_abort(Engine& engine) {
  Comm comm = engine.init();
  auto data = engine.part(700);
  if (engine.rank == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return;
  }
  engine.queue(comm, data);
  const double seconds = seconds_of([&] {
    engine.nccl.abort(comm);
    cuStreamSynchronize(engine.stream);
  });
  engine.expect(seconds < 1, "abort takes long");
  engine.expect(fake_nccl_ended() == 1, "NCCL's abort");
}

void play_broken_finalize(Engine& engine) {
  Comm comm = engine.init();
  auto data = engine.part(700);
  if (engine.rank == 1) {
    std::this_thread::sleep_for(std::chrono::seconds(2));
    return;
  }
  engine.queue(comm, data);
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
  auto data = engine.part(700);
  engine.queue(comm, data);
  const double seconds = seconds_of([&] { engine.nccl.destroy(comm); });
  engine.expect(seconds < 1, "destroy takes long");
}

void play_late(Engine& engine) {
  Comm comm = engine.init();
  if (engine.rank == 1) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  auto data = engine.part(700);
  engine.queue(comm, data);
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

void play_full(Engine& engine) {
  signal(SIGXFSZ, SIG_IGN);
  const rlimit limit{4096, 4096};
  setrlimit(RLIMIT_FSIZE, &limit);
  Comm comm = engine.init();
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

// Stops this process; a child of its own lets it go on after a while.
void hang(std::chrono::milliseconds time) {
  const pid_t self = getpid();
  const pid_t waker = fork();
  if (waker == 0) {
    std::this_thread::sleep_for(time);
    kill(self, SIGCONT);
    std::_Exit(0);
  }
  raise(SIGSTOP);
  waitpid(waker, nullptr, 0);
}

// A peer that hangs lives: an abort must not wait for it, and neither may the one that comes back.
void play_hung(Engine& engine) {
  Comm comm = engine.init();
  if (engine.rank == 1) hang(std::chrono::seconds(2));
  auto data = engine.part(700);
  engine.queue(comm, data);
  const double seconds = seconds_of([&] {
    engine.nccl.abort(comm);
    cuStreamSynchronize(engine.stream);
  });
  engine.expect(seconds < 1, "abort takes long");
}

// It is waited for, as NCCL does, and its sum is right.
void play_resumed(Engine& engine) {
  Comm comm = engine.init();
  if (engine.rank == 1) hang(std::chrono::milliseconds(500));
  auto data = engine.part(700);
  engine.queue(comm, data);
  engine.nccl.destroy(comm);
  engine.expect(engine.is_sum(data), "sum of a rank that was stopped");
}

void play_hung_at_init(Engine& engine) {
  if (engine.rank == 1) hang(std::chrono::milliseconds(2500));
  Comm comm = nullptr;
  const double seconds = seconds_of([&] { comm = engine.init(); });
  engine.expect(seconds < 2, "init takes long");
  static_cast<void>(engine.reduce(comm, 700));
  engine.nccl.destroy(comm);
}

// While the others wait for it to map their memory.
void play_killed_while_made(Engine& engine) {
  if (engine.rank == 1) setenv("FAKE_CUDA_KILLS", "cuMemHostRegister", 1);
  Comm comm = nullptr;
  const double seconds = seconds_of([&] { comm = engine.init(); });
  engine.expect(seconds < 2, "init takes long");
  static_cast<void>(engine.reduce(comm, 700));
  engine.nccl.destroy(comm);
}

bool leave_pid_namespace() {
  if (unshare(CLONE_NEWPID) == 0) return true;
  const auto user = std::to_string(geteuid());
  if (unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) return false;
  std::FILE* map = std::fopen("/proc/self/uid_map", "w");
  if (map == nullptr) return false;
  std::fprintf(map, "%s %s 1", user.c_str(), user.c_str());
  return std::fclose(map) == 0;
}

// Where another's process number means nothing, or somebody else.
void play_other_namespace(Engine& engine) {
  if (engine.rank == 1) {
    if (!leave_pid_namespace()) std::puts("no pid namespace is allowed here");
    const pid_t child = fork();
    if (child != 0) {
      int status = 0;
      waitpid(child, &status, 0);
      std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
    }
    engine.stream = nullptr;
    cuStreamCreate(&engine.stream, 1);
  }
  Comm comm = engine.init();
  static_cast<void>(engine.reduce(comm, 700));
  engine.nccl.destroy(comm);
}

}  // namespace

Scenes trouble_scenes() {
  return {
      {"abort", play_abort},
      {"broken-finalize", play_broken_finalize},
      {"dead", play_dead},
      {"late", play_late},
      {"absent", play_absent},
      {"differing", play_differing},
      {"refused", play_refused},
      {"full", play_full},
      {"failing-launch", play_failing_launch},
      {"hung", play_hung},
      {"resumed", play_resumed},
      {"hung-at-init", play_hung_at_init},
      {"killed-while-made", play_killed_while_made},
      {"other-namespace", play_other_namespace},
  };
}

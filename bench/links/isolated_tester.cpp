// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "isolated_tester.hpp"

#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <sstream>
#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace lanewise::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::string_view describe_word = "describe";
constexpr std::string_view missing_word = "missing ";
// How long a killed child may take to go: one that hangs in the driver may never do.
constexpr std::chrono::milliseconds reap_limit{2'000};
constexpr int reap_step_ms = 5;
constexpr std::size_t flows_a_share = 4;

std::string to_line(const LinkMachine& machine) {
  std::ostringstream line;
  line << "machine";
  for (std::size_t gpu = 0; gpu < machine.size(); ++gpu) {
    line << '\t' << machine.pci.at(gpu) << '\t' << machine.names.at(gpu) << '\t';
    for (const bool access : machine.peer_access.at(gpu)) line << (access ? '1' : '0');
  }
  return line.str();
}

LinkMachine parse_machine(const std::string& line) {
  std::istringstream fields(line);
  std::string field;
  std::getline(fields, field, '\t');
  if (field != "machine") throw Error("the measuring process does not describe GPUs: " + line);
  LinkMachine machine;
  std::string name;
  std::string access;
  while (std::getline(fields, field, '\t') && std::getline(fields, name, '\t') &&
         std::getline(fields, access, '\t')) {
    machine.pci.push_back(field);
    machine.names.push_back(name);
    std::vector<bool> row;
    for (const char flag : access) row.push_back(flag == '1');
    machine.peer_access.push_back(std::move(row));
  }
  return machine;
}

bool send_line(int socket, std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::send(socket, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

// Empty where the other end is gone.
std::optional<std::string> wait_for_line(int socket) {
  std::string line;
  for (char letter = 0;;) {
    const ssize_t count = ::recv(socket, &letter, 1, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return std::nullopt;
    if (letter == '\n') return line;
    line += letter;
  }
}

std::string answer(LinkTester& tester, const std::string& request) {
  try {
    if (request == describe_word) return to_line(tester.describe());
    return to_string(tester.measure(parse_probe(request)));
  } catch (const Error& error) {
    return std::string(missing_word) + error.what();
  } catch (const std::exception& error) {
    return to_string(Reading{{}, error.what()});
  }
}

[[noreturn]] void serve(int socket, int parent, const IsolatedTester::Factory& factory) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // It may have died before that.
  if (::getppid() != parent) ::_exit(0);
  std::unique_ptr<LinkTester> tester;
  std::optional<std::string> broken;
  try {
    tester = factory();
  } catch (const std::exception& error) {
    broken = std::string(missing_word) + error.what();
  }
  while (const auto request = wait_for_line(socket)) {
    if (!send_line(socket, broken ? *broken : answer(*tester, *request))) break;
  }
  // No exit handlers: they belong to the parent, and CUDA's could hang on a bad link.
  ::_exit(0);
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) {
    return "the measuring process was killed by signal " + std::to_string(WTERMSIG(status));
  }
  return "the measuring process ended with status " + std::to_string(WEXITSTATUS(status));
}

// Empty where the process is still there after the limit.
std::optional<int> reap(int process) {
  const auto deadline = Clock::now() + reap_limit;
  for (;;) {
    int status = 0;
    const int reaped = ::waitpid(process, &status, WNOHANG);
    if (reaped == process) return status;
    if ((reaped < 0 && errno != EINTR) || Clock::now() > deadline) return std::nullopt;
    ::poll(nullptr, 0, reap_step_ms);
  }
}

}  // namespace

IsolatedTester::IsolatedTester(Factory factory, IsolationLimits limits)
    : factory_(std::move(factory)), limits_(limits) {}

IsolatedTester::~IsolatedTester() {
  if (child_) static_cast<void>(stop());
}

LinkMachine IsolatedTester::describe() {
  const Reply reply = ask(std::string(describe_word), limits_.probe);
  if (reply.error) throw Error("the GPUs cannot be described: " + *reply.error);
  if (reply.line.starts_with(missing_word)) throw Error(reply.line.substr(missing_word.size()));
  return parse_machine(reply.line);
}

Reading IsolatedTester::measure(const Probe& probe) {
  const auto share =
      static_cast<std::chrono::milliseconds::rep>(probe.flows.size() / flows_a_share);
  const Reply reply = ask(to_string(probe), limits_.probe * (1 + share));
  if (reply.error) return {{}, reply.error};
  Reading reading = reply.line.starts_with(missing_word)
                        ? Reading{{}, reply.line.substr(missing_word.size())}
                        : parse_reading(reply.line);
  // A CUDA error can stay with its process and spoil every later probe.
  if (reading.error) static_cast<void>(stop());
  return reading;
}

IsolatedTester::Reply IsolatedTester::ask(const std::string& request,
                                          std::chrono::milliseconds limit) {
  if (!child_) start();
  // A send that fails means a dead child, which receive() finds and names.
  static_cast<void>(send_line(child_->socket, request));
  Reply reply = receive(limit);
  if (!reply.error) {
    child_->has_answered = true;
    was_started_ = true;
  }
  return reply;
}

IsolatedTester::Reply IsolatedTester::receive(std::chrono::milliseconds limit) {
  if (!child_->has_answered) limit += was_started_ ? limits_.restart : limits_.startup;
  const auto deadline = Clock::now() + limit;
  std::string line;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd ready{child_->socket, POLLIN, 0};
    const int count = left <= 0 ? 0 : ::poll(&ready, 1, static_cast<int>(left));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) {
      ::kill(child_->process, SIGKILL);
      static_cast<void>(stop());
      return {{}, "no answer within " + std::to_string(limit.count()) + " ms"};
    }
    std::array<char, 4096> buffer{};
    const ssize_t received = ::recv(child_->socket, buffer.data(), buffer.size(), 0);
    if (received < 0 && errno == EINTR) continue;
    if (received <= 0) return {{}, stop()};
    line.append(buffer.data(), static_cast<std::size_t>(received));
    if (line.back() == '\n') return {line.substr(0, line.size() - 1), std::nullopt};
  }
}

void IsolatedTester::start() {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair");
  }
  const int parent = ::getpid();
  const int process = ::fork();
  if (process < 0) {
    const int cause = errno;
    ::close(ends[0]);
    ::close(ends[1]);
    throw std::system_error(cause, std::generic_category(), "fork");
  }
  if (process == 0) {
    ::close(ends[0]);
    serve(ends[1], parent, factory_);
  }
  ::close(ends[1]);
  child_ = Child{process, ends[0], false};
}

std::string IsolatedTester::stop() {
  const Child child = *std::exchange(child_, std::nullopt);
  // A child that waits for a request ends when its socket does.
  ::close(child.socket);
  auto status = reap(child.process);
  if (!status) {
    ::kill(child.process, SIGKILL);
    status = reap(child.process);
  }
  return status ? how_it_ended(*status) : "the measuring process cannot be killed";
}

}  // namespace lanewise::bench

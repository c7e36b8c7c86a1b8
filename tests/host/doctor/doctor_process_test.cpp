// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "doctor_tree.hpp"

namespace lanewise {
namespace {

constexpr const char* torch_nccl = "/opt/venv/lib/libnccl.so.2";
constexpr int pid = 4242;

// A rank with these variables and this NCCL.
struct Rank : DoctorTree {
  explicit Rank(const std::vector<std::string>& variables, const std::string& release = "2.30.7",
                const std::vector<std::string>& more = {}) {
    std::vector<std::string> mapped = {torch_nccl};
    mapped.insert(mapped.end(), more.begin(), more.end());
    add_process(pid, variables, mapped);
    add_nccl(torch_nccl, release);
  }
  [[nodiscard]] Report report() const { return examine(pid); }
};

TEST(DoctorProcess, ReadsTheReleaseFromTheLibraryThatIsMapped) {
  const Rank rank({"NCCL_VERSION=2.15.5"}, "2.28.9");
  auto request = rank.request();
  request.pid = pid;

  const auto examination = host::examine(request);

  EXPECT_EQ(examination.nccl, std::string("2.28.9, ") + torch_nccl);
  EXPECT_TRUE(has(examination.report, "nccl-version-variable"));
}

TEST(DoctorProcess, RefusesAProcessThatIsNotThere) {
  auto request = DoctorTree().request();
  DoctorTree tree;
  request.root = tree.root();
  request.pid = 7;

  EXPECT_THROW((void)host::examine(request), Error);
}

TEST(DoctorProcess, SaysWhenAProcessHidesOrHasNoNccl) {
  DoctorTree hidden;
  hidden.write("proc/4242/status", "Name: python");
  DoctorTree launcher;
  launcher.add_process(pid, {"A=b"}, {});

  EXPECT_TRUE(has(hidden.examine(pid), "process-hidden"));
  EXPECT_TRUE(has(launcher.examine(pid), "nccl-not-loaded"));
}

TEST(DoctorProcess, NamesSeveralReleasesInOneProcess) {
  Rank rank({}, "2.28.9", {"/usr/lib/libnccl.so.2"});
  rank.add_nccl("/usr/lib/libnccl.so.2", "2.30.4");

  const auto report = rank.report();

  ASSERT_TRUE(has(report, "nccl-several"));
  EXPECT_EQ(find(report, "nccl-several")->seen.size(), 2U);
}

TEST(DoctorProcess, KnowsTheHazardsOfAReleaseOnTheseGpus) {
  EXPECT_TRUE(has(Rank({}, "2.26.2").report(), "nccl-hazard-broken"));
  EXPECT_TRUE(has(Rank({}, "2.21.5").report(), "nccl-hazard-broken"));
  EXPECT_FALSE(has(Rank({}, "2.30.7").report(), "nccl-hazard-broken"));
  EXPECT_TRUE(has(Rank({}, "2.31.2").report(), "nccl-hazard-note"));
}

TEST(DoctorProcess, TakesMoreHazardsFromFilesAndRefusesABadOneWithItsLine) {
  const Rank rank({});
  const auto file = rank.root() / "more.json";
  std::ofstream(file) << R"({"schema_version": 1, "hazards": [{"name": "local",
"nccl": {"from": "2.30.0", "to": "2.30.99"}, "severity": "slow", "symptom": "slow here",
"fix": "ask Ann", "source": "https://example.org/1"}]})";
  auto request = rank.request();
  request.pid = pid;
  request.hazards = file;

  const auto report = host::examine(request).report;

  ASSERT_TRUE(has(report, "nccl-hazard-slow"));
  EXPECT_EQ(find(report, "nccl-hazard-slow")->fix, "ask Ann");
  std::ofstream(file) << "{\"schema_version\": 1,\n\"hazards\": [{\"nme\": 3}]}";
  try {
    (void)host::examine(request);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.line(), 2);
  }
}

struct VariableCase {
  std::string variable;
  std::string release;
  std::string finding;
  int status;
};

TEST(DoctorProcess, JudgesVariables) {
  const std::vector<VariableCase> cases = {
      {"NCCL_MIN_CHANNELS=16", "2.30.7", "variable-misspelt", 1},
      {"NCCL_FOO_BAR=1", "2.30.7", "variable-unread", 0},
      {"NCCL_P2P_LEVEL=sys", "2.30.7", "variable-ignored", 1},
      {"NCCL_MIN_NCHANNELS=many", "2.30.7", "variable-ignored", 1},
      {"NCCL_ALGO=Tree", "2.30.7", "filter-without-ring", 2},
      {"NCCL_ALGO=Tree", "2.23.4", "filter-set", 0},
      {"NCCL_ALGO=Ring,Treee", "2.30.7", "filter-unknown-word", 2},
      {"NCCL_ALGO=allreduce:tree", "2.30.7", "filter-set", 0},
      {"NCCL_ALGO=allreduce:tree", "2.23.4", "filter-too-new", 1},
      {"NCCL_PROTO=^LL", "2.30.7", "filter-turns-ll128-on", 1},
      {"NCCL_PROTO=^LL,LL128", "2.30.7", "filter-set", 0},
      {"NCCL_PROTO=LL,LL128,Simple", "2.30.7", "filter-names-ll128", 0},
      {"NCCL_PROTO=Simple", "2.30.7", "filter-set", 0},
      {"NCCL_P2P_DISABLE=1", "2.30.7", "peer-access-switched-off", 1},
      {"NCCL_SHM_DISABLE=1", "2.30.7", "host-memory-switched-off", 1},
      {"CUDA_LAUNCH_BLOCKING=1", "2.30.7", "work-at-every-call", 1},
      {"VLLM_USE_NCCL_SYMM_MEM=1", "2.30.7", "symmetric-memory-without-nvlink", 1},
      {"LANEWISE_MODE=off", "2.30.7", "lanewise-mode", 0},
      {"LANEWISE_MODE=fast", "2.30.7", "lanewise-setting-refused", 1},
      {"LANEWISE_MODUS=off", "2.30.7", "lanewise-setting-unknown", 1},
  };
  for (const auto& variable_case : cases) {
    const auto report = Rank({variable_case.variable}, variable_case.release).report();

    EXPECT_TRUE(has(report, variable_case.finding))
        << variable_case.variable << ": " << names_of(report);
    const bool has_hazard = has(report, "nccl-hazard-broken");
    EXPECT_EQ(exit_status_of(report, Strictness::strict), has_hazard ? 2 : variable_case.status)
        << variable_case.variable << ": " << names_of(report);
  }
}

TEST(DoctorProcess, SeesThatTheMinimumOfChannelsBeatsTheMaximum) {
  const Rank rank({"NCCL_MIN_NCHANNELS=16", "NCCL_MAX_NCHANNELS=8"});

  EXPECT_TRUE(has(rank.report(), "channels-contradict"));
}

TEST(DoctorProcess, ReadsNcclsFilesAndNamesTheFileInTheFix) {
  Rank rank({"HOME=/root"});
  rank.write("etc/nccl.conf", "NCCL_P2P_LEVEL=sys\nNCCL_ALGO=Tree");
  rank.write("root/.nccl.conf", "NCCL_ALGO=Ring");

  const auto report = rank.report();

  EXPECT_EQ(find(report, "variable-ignored")->fix,
            "sudo sed -i '/^NCCL_P2P_LEVEL=/d' /etc/nccl.conf");
  EXPECT_FALSE(has(report, "filter-without-ring")) << "the user's file comes first";
}

struct GraphCase {
  int gpus;
  bool is_in_file;
  std::string finding;
};

TEST(DoctorProcess, JudgesGraphFiles) {
  const std::vector<GraphCase> cases = {{8, false, ""},
                                        {4, false, "graph-file-other-machine"},
                                        {8, true, "graph-file-for-all"},
                                        {0, false, "graph-file-missing"}};
  for (const auto& graph_case : cases) {
    const std::string setting = "NCCL_GRAPH_FILE=/opt/graph.xml";
    Rank rank(graph_case.is_in_file ? std::vector<std::string>{}
                                    : std::vector<std::string>{setting});
    if (graph_case.is_in_file) rank.write("etc/nccl.conf", setting);
    std::string gpus;
    for (int gpu = 0; gpu < graph_case.gpus; ++gpu)
      gpus += "<gpu dev=\"" + std::to_string(gpu) + "\"/>";
    if (graph_case.gpus > 0)
      rank.write("opt/graph.xml", "<graphs version=\"1\"><graph id=\"0\"><channel>" + gpus +
                                      "</channel></graph></graphs>");

    const auto report = rank.report();

    for (const auto& other : cases) {
      if (other.finding.empty()) continue;
      EXPECT_EQ(has(report, other.finding), other.finding == graph_case.finding)
          << graph_case.finding << ": " << names_of(report);
    }
  }
}

TEST(DoctorProcess, FindsATopologyFileThatIsGone) {
  EXPECT_TRUE(has(Rank({"NCCL_TOPO_FILE=/gone.xml"}).report(), "topology-file-missing"));
  Rank rank({"NCCL_TOPO_FILE=/opt/topology.xml"});
  rank.write("opt/topology.xml", "<system version=\"1\"/>");
  EXPECT_FALSE(has(rank.report(), "topology-file-missing"));
}

TEST(DoctorProcess, ReadsFilesAsAContainersProcessSeesThem) {
  Rank rank({"NCCL_GRAPH_FILE=/opt/graph.xml"});
  rank.write("proc/4242/root/etc/nccl.conf", "NCCL_ALGO=Tree");
  rank.add_nccl(std::string("/proc/4242/root") + torch_nccl, "2.30.7");
  rank.write("opt/graph.xml", "<graphs/>");  // the host's, which the process does not see

  const auto report = rank.report();

  EXPECT_TRUE(has(report, "filter-without-ring")) << names_of(report);
  EXPECT_TRUE(has(report, "graph-file-missing")) << names_of(report);
}

}  // namespace
}  // namespace lanewise

// SPDX-License-Identifier: Apache-2.0
// Copyright the Lanewise authors

#include "host/nccl/server_nccl.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace lanewise::host {
namespace {

namespace fs = std::filesystem;

// A root of its own with Pythons and NCCLs that are only names.
class ServerNcclTest : public ::testing::Test {
 protected:
  ServerNcclTest() {
    std::string pattern = (fs::temp_directory_path() / "lanewise.XXXXXX").string();
    root_ = fs::path(::mkdtemp(pattern.data()));
  }
  ~ServerNcclTest() override { fs::remove_all(root_); }

  fs::path add_file(const std::string& name, const std::string& text = "") {
    const auto path = root_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
  void add_wheel(const std::string& packages, const std::string& version,
                 const std::string& cuda = "cu13") {
    add_file(packages + "/nvidia/nccl/lib/libnccl.so.2");
    fs::create_directories(root_ / packages /
                           ("nvidia_nccl_" + cuda + "-" + version + ".dist-info"));
  }
  // /usr/bin/python3 and a virtual environment of it in "a venv".
  void add_pythons() {
    add_file("usr/bin/python3.11");
    fs::create_symlink("python3.11", root_ / "usr/bin/python3");
    add_file("a venv/pyvenv.cfg", "home = /usr/bin\ninclude-system-site-packages = false\n");
    fs::create_directories(root_ / "a venv/bin");
    fs::create_symlink(root_ / "usr/bin/python3", root_ / "a venv/bin/python");
  }
  [[nodiscard]] std::string find(const std::vector<std::string>& words,
                                 Environment environment = {}) const {
    environment.emplace("PATH",
                        (root_ / "a venv/bin").string() + ":" + (root_ / "usr/bin").string());
    const auto found = find_server_nccl({words, environment}, {root_ / "usr/lib"});
    return found ? to_string(found->release) : "";
  }

  fs::path root_;
};

TEST_F(ServerNcclTest, IsTheWheelOfTheInterpreterThatIsStarted) {
  add_pythons();
  add_wheel("a venv/lib/python3.11/site-packages", "2.30.7");
  add_wheel("usr/lib/python3/dist-packages", "2.27.3");

  EXPECT_EQ(find({"python", "-m", "sglang.launch_server"}), "2.30.7");
  EXPECT_EQ(find({(root_ / "usr/bin/python3").string(), "server.py"}), "2.27.3");
}

TEST_F(ServerNcclTest, IsThatOfTheInterpreterThatAScriptNames) {
  add_pythons();
  add_wheel("a venv/lib/python3.11/site-packages", "2.31.2");
  const auto python = (root_ / "a venv/bin/python").string();
  fs::create_symlink(root_ / "usr/bin/python3", root_ / "usr/bin/python3.12");
  add_file("usr/bin/vllm",
           "#!" + std::string("/bin/sh\n'''exec' \"") + python + "\" \"$0\" \"$@\"\n");
  add_file("usr/bin/torchrun", "#!/usr/bin/env -S python -u\n");

  EXPECT_EQ(find({"vllm", "serve"}), "2.31.2");
  EXPECT_EQ(find({"torchrun", "--nproc-per-node", "8", "job.py"}), "2.31.2");
}

TEST_F(ServerNcclTest, IsFoundBehindAProgramThatStartsAnother) {
  add_pythons();
  add_file("usr/bin/numactl",
           "\x7f"
           "ELF");
  add_wheel("a venv/lib/python3.11/site-packages", "2.30.7");

  EXPECT_EQ(find({"numactl", "--interleave=all", "python", "server.py"}), "2.30.7");
}

TEST_F(ServerNcclTest, OfAVirtualEnvironmentThatSeesTheSystemsPackagesIsTheSystems) {
  add_pythons();
  add_wheel("usr/local/lib/python3.11/dist-packages", "2.28.9");
  EXPECT_EQ(find({"python"}), "");

  add_file("a venv/pyvenv.cfg", "include-system-site-packages = true\n");
  EXPECT_EQ(find({"python"}), "2.28.9");
}

TEST_F(ServerNcclTest, WithoutAWheelIsTheOneOnTheLoadersPath) {
  add_pythons();
  add_file("usr/lib/libnccl.so.2.29.2");
  fs::create_symlink("libnccl.so.2.29.2", root_ / "usr/lib/libnccl.so.2");
  EXPECT_EQ(find({"python"}), "2.29.2");
  EXPECT_EQ(find({"start_server.sh"}), "") << "who knows what it starts";

  add_file("own/libnccl.so.2.30.7");
  fs::create_symlink("libnccl.so.2.30.7", root_ / "own/libnccl.so.2");
  EXPECT_EQ(find({"python"}, {{"LD_LIBRARY_PATH", (root_ / "own").string()}}), "2.30.7");
}

TEST_F(ServerNcclTest, ThatAVariableNamesGoesBeforeAll) {
  add_pythons();
  add_wheel("a venv/lib/python3.11/site-packages", "2.30.7");
  const auto named = add_file("own/libnccl.so.2.31.2").string();

  EXPECT_EQ(find({"python"}, {{"VLLM_NCCL_SO_PATH", named}}), "2.31.2");
  EXPECT_EQ(find({"python"}, {{"SGLANG_NCCL_SO_PATH", named}}), "2.31.2");
  EXPECT_EQ(find({"python"}, {{"LD_PRELOAD", "/lib/other.so " + named}}), "2.31.2");
}

TEST_F(ServerNcclTest, IsNotGuessed) {
  add_pythons();
  EXPECT_EQ(find({"python"}), "");
  add_file("usr/lib/libnccl.so.2");
  EXPECT_EQ(find({"python"}), "") << "a file that does not tell its release";

  add_wheel("a venv/lib/python3.11/site-packages", "2.30.7", "cu13");
  add_wheel("a venv/lib/python3.11/site-packages", "2.27.3", "cu12");
  EXPECT_EQ(find({"python"}), "") << "two wheels in one folder";
}

}  // namespace
}  // namespace lanewise::host

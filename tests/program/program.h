#pragma once

// Runs the program as a shell would, in an empty folder with a small network and data of known accuracy.

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <assay/extend/random.h>
#include <assay/model.h>
#include "assay/support/files/file.h"

namespace assay {

struct Outcome {
  int code = 0;
  std::string out, err;
};

// Names of all commands, which the text of `assay completion bash` offers as first words.
inline std::vector<std::string> subcommands(const std::string& script) {
  std::vector<std::string> names;
  const std::string begin = "words='";
  std::size_t at = script.find(begin);
  if (at == std::string::npos) return names;
  at += begin.size();
  while (script.compare(at, 2, "--") != 0) {
    const std::size_t end = script.find(' ', at);
    names.push_back(script.substr(at, end - at));
    at = end + 1;
  }
  return names;
}

class Program : public testing::Test {
 protected:
  void SetUp() override {
    // Those who start tests in the background (nohup) ignore some, which the program then respects.
    for (const int heard : {SIGHUP, SIGINT, SIGTERM, SIGPIPE}) std::signal(heard, SIG_DFL);
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    folder = std::filesystem::path(testing::TempDir()) / fmt_name(info->test_suite_name(), info->name());
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    write_network("net.onnx");
    write_data("images-idx3-ubyte", "labels-idx1-ubyte", 200);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  // `arguments` as typed after "assay", with shell quoting and redirections.
  Outcome assay(const std::string& arguments) const {
    const std::string command =
        "cd '" + folder.string() + "' && '" ASSAY_PROGRAM "' " + arguments + " >out.txt 2>err.txt";
    const int status = std::system(command.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder / "out.txt"),
            read_file(folder / "err.txt")};
  }

  // " --threads 1" of commands that have threads; the first word is its name.
  std::string one_thread(const std::string& command) const {
    const bool has_threads =
        assay(command.substr(0, command.find(' ')) + " --help-all").out.find("--threads") !=
        std::string::npos;
    return has_threads ? " --threads 1" : "";
  }

  // The same in a shell script of one's own, in which $assay is the program.
  Outcome shell(const std::string& script) const {
    const int status = std::system(
        ("cd '" + folder.string() + "' && assay='" ASSAY_PROGRAM "' && (" + script + ") >out.txt 2>err.txt")
            .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read_file(folder / "out.txt"),
            read_file(folder / "err.txt")};
  }

  // Runs the same with the program killed just before its `call`-th call that changes a file (kill_at.c).
  // False when it ended before.
  bool killed_at(int call, const std::string& arguments) const {
    const std::string command = "cd '" + folder.string() +
                                "' && LD_PRELOAD='" ASSAY_KILL_AT "' ASSAY_KILL_AT=" + std::to_string(call) +
                                " '" ASSAY_PROGRAM "' " + arguments + " >/dev/null 2>&1";
    return std::system(command.c_str()) != 0;
  }
  // Killed ever later, each run going on from what the last one left, until one ends. Returns how many were
  // killed.
  int killed_until_done(const std::string& arguments) const {
    for (int kills = 0, call = 1; kills < 30; ++kills, call += 3) {
      if (!killed_at(call, arguments)) return kills;
    }
    ADD_FAILURE() << "a run that goes on after each of 30 kills does not end: " << arguments;
    return 30;
  }

  // Classifies 4x4 images: class 1 where the right half is brighter than the left.
  void write_network(const std::string& name) const {
    GraphBuilder build(name);
    std::vector<float> weights;
    for (int i = 0; i < 16; ++i) {
      const float right = i % 4 >= 2 ? 1.0F : -1.0F;
      weights.push_back(-right);
      weights.push_back(right);
    }
    const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
    const ValueId flat = build.add("Flatten", "flatten", {in});
    const ValueId hidden =
        build.add("Gemm", "hidden", {flat, build.constant("w1", Array::of<float>({16, 2}, weights))});
    const ValueId active = build.add("Relu", "active", {hidden});
    const std::vector<float> identity{1, 0, 0, 1};
    build.output(
        build.add("Gemm", "logits", {active, build.constant("w2", Array::of<float>({2, 2}, identity))}));
    write_onnx(build.build(), folder / name);
  }

  // IDX images, every tenth with the wrong label: the network's accuracy is 0.9 exactly.
  void write_data(const std::string& images, const std::string& labels, int count) const {
    const auto big_endian = [](std::uint32_t v) {
      return std::string{char(v >> 24), char(v >> 16), char(v >> 8), char(v)};
    };
    std::string pixels = std::string("\0\0\x08\x03", 4) + big_endian(count) + big_endian(4) + big_endian(4);
    std::string classes = std::string("\0\0\x08\x01", 4) + big_endian(count);
    for (int i = 0; i < count; ++i) {
      Rng rng(5, {static_cast<std::uint64_t>(i)});
      const bool right = i % 2 == 1;
      for (int p = 0; p < 16; ++p) {
        const bool bright = (p % 4 >= 2) == right;
        pixels += static_cast<char>(bright ? 128 + rng.below(128) : rng.below(100));
      }
      classes += static_cast<char>(right != (i % 10 == 0));
    }
    write_file(folder / images, pixels);
    write_file(folder / labels, classes);
  }

  std::filesystem::path folder;

 private:
  static std::string fmt_name(const std::string& suite, const std::string& test) {
    return "assay_" + suite + "_" + test;
  }
};

}  // namespace assay

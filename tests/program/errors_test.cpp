#include "tests/program/program.h"

namespace assay {
namespace {

using Errors = Program;

TEST_F(Errors, WrongUsageSuggestsTheNearestName) {
  const Outcome typo = assay("evalaute --model net.onnx");
  EXPECT_EQ(typo.code, 1);
  EXPECT_NE(typo.err.find("did you mean 'evaluate'"), std::string::npos) << typo.err;
  const Outcome flag = assay("evaluate --modle x");
  EXPECT_EQ(flag.code, 1);
  EXPECT_NE(flag.err.find("did you mean '--model'"), std::string::npos) << flag.err;
  const Outcome records = assay("mutate net.onnx --data images-idx3-ubyte");
  EXPECT_NE(records.err.find("did you mean '--test'"), std::string::npos) << records.err;
  EXPECT_EQ(assay("").code, 1);
}

TEST_F(Errors, MissingArgumentsNameTheFlag) {
  const Outcome result = assay("evaluate --data images-idx3-ubyte");
  EXPECT_EQ(result.code, 1);
  EXPECT_NE(result.err.find("--model"), std::string::npos) << result.err;
}

TEST_F(Errors, EachKindHasItsExitCodeAndOneMessage) {
  EXPECT_EQ(assay("evaluate --model none.onnx --data images-idx3-ubyte").code, 7);
  write_file(folder / "junk.onnx", "this is not a network");
  EXPECT_EQ(assay("evaluate --model junk.onnx --data images-idx3-ubyte").code, 3);
  const std::string whole = read_file(folder / "images-idx3-ubyte");
  write_file(folder / "short-images-idx3-ubyte", whole.substr(0, whole.size() / 2));
  EXPECT_EQ(assay("evaluate --model net.onnx --data short-images-idx3-ubyte,labels=labels-idx1-ubyte").code,
            5);
  const Outcome off = assay("evaluate --model net.onnx --data images-idx3-ubyte --expect-accuracy 0.99");
  EXPECT_EQ(off.code, 6);
  EXPECT_EQ(off.err.find("assay: "), off.err.rfind("assay: ")) << off.err;
}

TEST_F(Errors, AnUnknownOperatorIsNamedWithItsNode) {
  GraphBuilder build("odd");
  const ValueId in = build.input("input", DType::float32, {-1, 1, 4, 4});
  build.output(build.add("FancyThing", "mystery", {in}));
  write_onnx(build.build(), folder / "odd.onnx");
  const Outcome result = assay("evaluate --model odd.onnx --data images-idx3-ubyte");
  EXPECT_EQ(result.code, 4);
  EXPECT_NE(result.err.find("mystery"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("FancyThing"), std::string::npos) << result.err;
}

TEST_F(Errors, AFullDiskAndAReadOnlyPlaceLoseNothing) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  const std::string command =
      "cd '" + folder.string() +
      "' && '" ASSAY_PROGRAM
      "' evaluate --model net.onnx --data images-idx3-ubyte --quiet >/dev/full 2>err.txt";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 7) << read_file(folder / "err.txt");
  EXPECT_EQ(assay("evaluate --model net.onnx --data images-idx3-ubyte --json /proc/none/result.json").code,
            7);
}

}  // namespace
}  // namespace assay

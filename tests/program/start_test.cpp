// What the program loads: libtorch takes longer to load than a small network to run.

#include <gmock/gmock.h>

#include "program.h"

namespace assay {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Start : public Program {
 protected:
  // What the dynamic linker says of the libraries that this run loads.
  std::string loaded_by(const std::string& arguments) const {
    const Outcome outcome =
        shell("LD_DEBUG=files LD_DEBUG_OUTPUT=linker $assay " + arguments +
              " >run.txt 2>&1; echo ended $? >>run.txt; cat run.txt linker.*; rm linker.*");
    EXPECT_THAT(outcome.out, HasSubstr("ended 0")) << arguments;
    return outcome.out;
  }
};

TEST_F(Start, LoadsLibtorchWhereItsKernelsRunAlone) {
#ifndef ASSAY_DEFERS_LIBTORCH
  GTEST_SKIP() << "this program is linked with libtorch";
#endif
  const std::string data = "images-idx3-ubyte", both = "--train " + data + " --test " + data;
  const std::vector<std::string> without{
      "--version",
      "data " + data,
      "model net.onnx",
      "evaluate net.onnx --data " + data,
      "importance --model net.onnx --data " + data,
      "select --model net.onnx --by deepgini --out order.txt --test " + data,
      "cover --model net.onnx -m 2 --preset all " + both,
      "attack net.onnx --attack fgsm --attack bim --attack 'pgd[starts=2]' --attack noise --attack jsma "
      "--attack 'noise-relevant[share=0.2]' --out attacked --data " +
          data,
      "explore net.onnx --mutant 'gf[sigma=0.5]' --constraint 'occl[size=2x2]' --iterations 3 --out explored "
      "--data " +
          data,
      "mutate --model net.onnx --test " + data};
  for (const std::string& arguments : without) {
    EXPECT_THAT(loaded_by(arguments), Not(HasSubstr("libtorch_cpu"))) << arguments;
  }
  EXPECT_THAT(loaded_by("evaluate net.onnx --engine libtorch --data " + data), HasSubstr("libtorch_cpu"));
}

}  // namespace
}  // namespace assay

// Training as people do it: the words of a recipe as flags and in assay.toml, early stopping, mistakes.

#include <nlohmann/json.hpp>

#include "tests/program/program.h"

namespace assay {
namespace {

class TrainProgram : public Program {
 protected:
  Outcome train(const std::string& more) const {
    return assay("train --quiet --model net.onnx --data images-idx3-ubyte --threads 1 --out out.onnx " +
                 more);
  }
  nlohmann::json result(const std::string& more) const {
    const Outcome run = train("--json result.json " + more);
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(read_file(folder / "result.json"));
  }
};

TEST_F(TrainProgram, FlagsAndFileSayTheSameRecipe) {
  const auto flags = result(
      "--epochs 2 --optimiser 'sgd[momentum=0.9,nesterov=true]' --learning-rate 0.01 --loss "
      "'huber[delta=0.5]' "
      "--initialiser keras,he-normal --regularisation 'l2[amount=0.001]' --clip-norm 3 --clip-value 0.5 "
      "--no-shuffling --validation-share 0.25 --patience 5 --min-delta 0.001 --train-batch 32 --decay 0.01 "
      "--decision logits");
  EXPECT_NE(result("--epochs 2")["provenance"]["recipe_hash"], flags["provenance"]["recipe_hash"]);
  write_file(folder / "assay.toml", R"([train]
epochs = 2
optimiser = "sgd[momentum=0.9,nesterov=true]"
learning-rate = 0.01
loss = "huber[delta=0.5]"
initialiser = ["keras", "he-normal"]
regularisation = "l2[amount=0.001]"
clip-norm = 3
clip-value = 0.5
no-shuffling = true
validation-share = 0.25
patience = 5
min-delta = 0.001
train-batch = 32
decay = 0.01
decision = "logits"
)");
  const auto file = result("");
  EXPECT_EQ(file["tables"], flags["tables"]);
  EXPECT_EQ(file["provenance"]["recipe_hash"], flags["provenance"]["recipe_hash"]);
}

TEST_F(TrainProgram, StopsEarlyAndSaysSo) {
  const Outcome run = train(
      "--epochs 40 --validation-share 0.5 --patience 2 --min-delta 10 --optimiser adam --markdown out.md");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(read_file(folder / "out.md").find("stopped after epoch 3 of 40: patience 2 ran out"),
            std::string::npos);
}

TEST_F(TrainProgram, SaysWhatIsNoRecipe) {
  const auto refused = [&](const std::string& flags, const std::string& reason) {
    const Outcome run = train(flags);
    EXPECT_EQ(run.code, 1) << flags;
    EXPECT_NE(run.err.find(reason), std::string::npos) << flags << ": " << run.err;
  };
  refused("--optimiser 'adam[momentum=0.9]'", "momentum");
  refused("--optimiser adamm", "did you mean 'adam'");
  refused("--loss hing", "did you mean 'hinge'");
  refused("--initialiser he-normall", "did you mean 'he-normal'");
  refused("--regularisation 'l2[layer=nowhere]'", "no layer 'nowhere'");
  refused("--patience 3", "patience needs validation data");
  refused("--min-delta 0.1", "without patience");
  refused("--last-epoch", "no effect");
  refused("--validation-share 0.2 --validation images-idx3-ubyte", "no effect");
}

}  // namespace
}  // namespace assay

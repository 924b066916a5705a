// Sizes 0 and 1: layers, networks, data and classes that hold nothing or one thing. Every command, and every
// entry of every catalogue, ends with a right result or with one message; none ends with a signal or a
// defect.

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "assay/data/files/image_folder.h"
#include "assay/data/files/numpy.h"
#include "tests/hardness/little_memory.h"
#include "tests/program/program.h"

namespace assay {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A network of records with `inputs` numbers, whose parts are given by `add(build, input)`.
template <typename Add>
void write_small(const fs::path& path, Shape record, const Add& add) {
  GraphBuilder build(path.stem().string());
  record.insert(record.begin(), -1);
  build.output(add(build, build.input("x", DType::float32, record)));
  write_onnx(build.build(), path);
}

// Weights that are 0.5, 1, ... and make nothing equal.
ValueId weights(GraphBuilder& build, const std::string& name, const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(element_count(shape)));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.5F * static_cast<float>(i % 5) - 0.75F;
  return build.constant(name, Array::of<float>(shape, values));
}

ValueId dense(GraphBuilder& build, const std::string& name, ValueId in, std::int64_t from, std::int64_t to) {
  return build.add("MatMul", name, {in, weights(build, name + "_w", {from, to})});
}

ValueId integers(GraphBuilder& build, const std::string& name, const std::vector<std::int64_t>& values) {
  return build.constant(name, Array::of<std::int64_t>({static_cast<std::int64_t>(values.size())}, values));
}

const std::vector<std::string> networks{"nothing", "bottleneck", "slice", "channels", "positions", "features",
                                        "one",     "neuron",     "bare",  "flat",     "single"};

class Sizes : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    write_networks();
    write_records("d", 20, 4, [](std::size_t i) { return static_cast<std::int64_t>(i % 2); });
    write_records("d1", 1, 4, [](std::size_t) { return 0; });
    write_records("d0", 0, 4, [](std::size_t) { return 0; });
    write_records("same", 20, 4, [](std::size_t) { return 0; });
    write_records("width0", 20, 0, [](std::size_t i) { return static_cast<std::int64_t>(i % 2); });
    write_records("width1", 20, 1, [](std::size_t i) { return static_cast<std::int64_t>(i % 2); });
  }

  void write_networks() const {
    const auto path = [&](const char* name) { return folder / (std::string(name) + ".onnx"); };
    write_small(path("nothing"), {4}, [](auto& b, ValueId x) { return dense(b, "empty", x, 4, 0); });
    write_small(path("bottleneck"), {4}, [](auto& b, ValueId x) {
      return dense(b, "logits", b.add("Relu", "active", {dense(b, "empty", x, 4, 0)}), 0, 2);
    });
    write_small(path("slice"), {4}, [](auto& b, ValueId x) {
      const ValueId none = b.add("Slice", "none",
                                 {dense(b, "hidden", x, 4, 3), integers(b, "from", {0}),
                                  integers(b, "to", {0}), integers(b, "axis", {1})});
      return dense(b, "logits", b.add("Relu", "active", {none}), 0, 2);
    });
    write_small(path("channels"), {4}, [](auto& b, ValueId x) {
      const ValueId image = b.add("Reshape", "image", {x, integers(b, "shape", {-1, 1, 2, 2})});
      const ValueId none = b.add("Conv", "empty", {image, weights(b, "kernel", {0, 1, 1, 1})});
      const ValueId flat =
          b.add("Reshape", "flat", {b.add("Relu", "active", {none}), integers(b, "row", {-1, 0})},
                {{"allowzero", std::int64_t{1}}});
      return dense(b, "logits", flat, 0, 2);
    });
    write_small(path("positions"), {4}, [](auto& b, ValueId x) {
      const ValueId image = b.add("Reshape", "image", {x, integers(b, "shape", {-1, 1, 2, 2})});
      const ValueId wide = b.add("Conv", "wide", {image, weights(b, "kernel", {3, 1, 1, 1})});
      const ValueId none =
          b.add("Slice", "none",
                {wide, integers(b, "from", {0}), integers(b, "to", {0}), integers(b, "axis", {2})});
      const ValueId sum =
          b.add("ReduceSum", "sum", {b.add("Relu", "active", {none}), integers(b, "axes", {2, 3})},
                {{"keepdims", std::int64_t{0}}});
      return dense(b, "logits", sum, 3, 2);
    });
    write_small(path("features"), {0}, [](auto& b, ValueId x) { return dense(b, "logits", x, 0, 2); });
    write_small(path("one"), {4}, [](auto& b, ValueId x) { return dense(b, "logit", x, 4, 1); });
    write_small(path("neuron"), {4}, [](auto& b, ValueId x) {
      return dense(b, "logits", b.add("Relu", "active", {dense(b, "hidden", x, 4, 1)}), 1, 2);
    });
    write_small(path("bare"), {4}, [](auto& b, ValueId x) { return b.add("Identity", "same", {x}); });
    write_small(path("flat"), {4}, [](auto& b, ValueId x) { return b.add("Flatten", "flat", {x}); });
    write_small(path("single"), {1}, [](auto& b, ValueId x) { return dense(b, "logits", x, 1, 2); });
  }

  template <typename Label>
  void write_records(const std::string& name, std::int64_t count, std::int64_t width,
                     const Label& label) const {
    std::vector<float> values(static_cast<std::size_t>(count * width));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 11) / 10;
    std::vector<std::int64_t> labels;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) labels.push_back(label(i));
    write_npz(folder / (name + ".npz"), {{"x", Array::of<float>({count, width}, values)},
                                         {"y", Array::of<std::int64_t>({count}, labels)}});
  }

  // Names of a catalogue that a command explains.
  std::vector<std::string> names_in(const std::string& command, std::size_t table = 0) const {
    EXPECT_EQ(assay(command + " --json names.json").code, 0);
    const Json document = Json::parse(read_file(folder / "names.json"));
    std::vector<std::string> names;
    auto at = document.at("tables").begin();
    std::advance(at, table);
    for (const Json& row : at.value().at("rows")) names.push_back(row.at("name").get<std::string>());
    EXPECT_GT(names.size(), 3U) << command;
    return names;
  }

  void expect_told(const std::string& command) const {
    const Outcome outcome = shell(little_memory(6) + std::string(little_time) + "$assay " + command +
                                  " --quiet" + one_thread(command));
    EXPECT_TRUE(outcome.code >= 0 && outcome.code < 10)
        << "assay " << command << ": " << outcome.code << " " << outcome.err.substr(0, 600);
    if (outcome.code == 0) return;
    EXPECT_TRUE(outcome.err.starts_with("assay: ")) << command << ": " << outcome.err.substr(0, 600);
    EXPECT_EQ(outcome.err.find("nternal"), std::string::npos)
        << command << ": " << outcome.err.substr(0, 600);
  }

  // The data that a network takes.
  static std::string data_of(const std::string& network) {
    return network == "features" ? "width0.npz" : network == "single" ? "width1.npz" : "d.npz";
  }
};

class SizesOfNetwork : public Sizes, public ::testing::WithParamInterface<std::string> {
 protected:
  const std::string model = GetParam() + ".onnx", data = data_of(GetParam()), range = data + ",range=0:1";
  const std::string both = " --model " + model + " --train " + data + " --test " + data;
};

TEST_P(SizesOfNetwork, EveryCommand) {
  for (const std::string& command :
       {"model " + model, "model " + model + " --plan", "evaluate --model " + model + " --data " + data,
        "importance --model " + model + " --data " + data, "cover" + both + " --preset all",
        "cover" + both + " -m 1",
        "audit" + both +
            " --criterion nc --count 1 --sizes 5 --subsets 4 --permutations 9 "
            "--resamples 9 --orders 9",
        "mutate --model " + model + " --test " + data, "mutate list --model " + model,
        "explore " + model + " --mutant ws --data " + range + " --out found --constraint none --iterations 3",
        "inspect --model " + model + " --data " + data + " --hypotheses label",
        "inspect --model " + model + " --data " + data + " --hypotheses label --align record",
        "prune --model " + model + " --units layer=0,units=0 --test " + data + " --out pruned.onnx",
        "train --model " + model + " --data " + data + " --epochs 1 --out trained.onnx",
        "retrain " + model + " --train " + data + " --test " + data + " --add " + data +
            " --count 2 --repeats 2 --epochs 1 --against noise",
        "evidence --title Study" + both + " --out pack --force",
        "mutate --train " + data + " --test " + data + " --model " + model +
            " --operator epochs --count 1 --epochs 1 --store kept"})
    expect_told(command);
}

TEST_P(SizesOfNetwork, EveryCriterion) {
  for (const std::string& criterion : names_in("criteria"))
    expect_told("cover" + both + " -m 1 --criterion " + criterion);
}

TEST_P(SizesOfNetwork, EveryWayToSelect) {
  for (const char* way : {"minimise", "budget", "additional", "deepgini", "entropy", "margin", "max-softmax",
                          "lsa", "dsa", "mdsa", "random"})
    expect_told("select" + both + " --size 3 --by " + way);
}

TEST_P(SizesOfNetwork, EveryAttack) {
  for (const std::string& attack : names_in("attacks"))
    expect_told("attack " + model + " " + range + " --attack " + attack + " --out attacked");
}

TEST_P(SizesOfNetwork, EveryOperatorOfMutation) {
  for (const std::string& op : names_in("operators"))
    expect_told("mutate --model " + model + " --test " + data + " --count 1 --operator " + op);
}

TEST_P(SizesOfNetwork, EveryMeasure) {
  for (const std::string& measure : names_in("measures"))
    expect_told("inspect --model " + model + " --data " + data + " --hypotheses label --measure " + measure);
}

INSTANTIATE_TEST_SUITE_P(Networks, SizesOfNetwork, ::testing::ValuesIn(networks),
                         [](const auto& network) { return network.param; });

class SizesOfData : public Sizes, public ::testing::WithParamInterface<std::string> {
 protected:
  const std::string data = GetParam() + ".npz", range = data + ",range=0:1", model = "neuron.onnx";
};

// As training data, as test data and as both.
TEST_P(SizesOfData, EveryCommand) {
  for (const auto& [train, test] : {std::pair(data, std::string("d.npz")),
                                    std::pair(std::string("d.npz"), data), std::pair(data, data)}) {
    const std::string both = " --model " + model + " --train " + train + " --test " + test;
    for (const std::string& command :
         {"cover" + both + " --preset all -m 1", "cover" + both + " --criterion nc --by-class",
          "audit" + both +
              " --criterion nc --count 1 --sizes 5 --subsets 4 --permutations 9 --resamples 9 --orders 9",
          "evidence --title Study" + both + " --out pack --force",
          "retrain " + model + " --train " + train + " --test " + test + " --add " + data +
              " --count 1 --repeats 2 --epochs 1 --against noise",
          "mutate --train " + train + " --test " + test + " --model " + model +
              " --operator epochs --count 1 --epochs 1 --store kept"})
      expect_told(command);
    for (const char* way : {"minimise", "budget", "additional", "lsa", "dsa", "mdsa"})
      expect_told("select" + both + " --by " + way);
  }
  for (const std::string& command :
       {"data " + data, "data " + data + " --write copy.npz", "evaluate --model " + model + " --data " + data,
        "importance --model " + model + " --data " + data, "mutate --model " + model + " --test " + data,
        "select --model " + model + " --test " + data + " --by entropy",
        "explore " + model + " --mutant ws --data " + range + " --out found --constraint none --iterations 3",
        "inspect --model " + model + " --data " + data + " --hypotheses label",
        "prune --model " + model + " --units layer=0,units=0 --test " + data + " --out pruned.onnx",
        "train --model " + model + " --data " + data + " --epochs 1 --out trained.onnx",
        "polluted --data " + data + " --findings d.npz --window-size 3",
        "polluted --data d.npz --findings " + data})
    expect_told(command);
  for (const std::string& criterion : names_in("criteria"))
    expect_told("cover --model " + model + " --train " + data + " --test " + data + " -m 1 --criterion " +
                criterion);
  for (const std::string& attack : names_in("attacks"))
    expect_told("attack " + model + " " + range + " --attack " + attack + " --out attacked");
  for (const std::string& measure : names_in("measures"))
    expect_told("inspect --model " + model + " --data " + data + " --hypotheses label --measure " + measure);
}

INSTANTIATE_TEST_SUITE_P(Records, SizesOfData, ::testing::Values("d0", "d1", "same"),
                         [](const auto& data) { return data.param; });

TEST_F(Sizes, ALayerWithoutNeuronsIsNamed) {
  const std::string data = " --train d.npz --test d.npz", cover = "cover --model bottleneck.onnx" + data;
  const auto expect_words = [&](const std::string& command, int code, const std::string& words) {
    const Outcome outcome = assay(command + " --quiet");
    EXPECT_EQ(outcome.code, code) << command << outcome.err;
    EXPECT_NE((outcome.out + outcome.err).find(words), std::string::npos)
        << command << outcome.out << outcome.err;
  };
  for (const char* chosen : {"nc --count-layer empty", "idc -m 1 --layer empty"})
    expect_words(cover + " --criterion " + chosen, 1, "layer 'empty' has no neurons");
  expect_words(cover + " --criterion nc", 0, "logits");
  expect_words("model bottleneck.onnx", 0, "layer 'empty' has no neurons");
  for (const char* command : {"evaluate --data d.npz", "cover --train d.npz --test d.npz --criterion nc"})
    expect_words(std::string(command) + " --model nothing.onnx", 4, "holds nothing");
}

}  // namespace
}  // namespace assay

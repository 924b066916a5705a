// Networks as they are deployed, through the program: each goes through every analysis, or a message says why
// not. Quantised networks against the float networks that they were made from.

#include <nlohmann/json.hpp>

#include <assay/session.h>
#include "assay/data/files/numpy.h"
#include "tests/engine/graphs.h"
#include "tests/engine/quantise.h"
#include "tests/program/program.h"

namespace assay {
namespace {

using test::Ints;
using test::Net;

class Deployed : public Program {
 protected:
  // Records under the names of the network's inputs, with the classes that the network gives them.
  void write_records(const std::string& name, const Graph& graph, const std::vector<NamedArray>& inputs,
                     const std::vector<std::int64_t>& classes) const {
    std::map<std::string, Array> arrays;
    for (const NamedArray& input : inputs) arrays[inputs.size() == 1 ? "x" : input.name] = input.values;
    arrays["y"] = Array::of<std::int64_t>({std::ssize(classes)}, classes);
    write_npz(folder / name, arrays);
    write_onnx(graph, folder / "model.onnx");
  }

  static std::vector<std::int64_t> classes_of(const Graph& graph, const Array& records) {
    const Session session(graph, {.threads = 1});
    const ValueId id = session.logits();
    const Array classes = session.run(session.bind(records), std::span(&id, 1)).at(id).argmax(1).contiguous();
    return {classes.elements<std::int64_t>(), classes.elements<std::int64_t>() + classes.count()};
  }

  void expect_all(const std::string& network, const std::string& data) const {
    const std::string with = " --quiet " + network;
    for (const std::string& command :
         {"evaluate" + with + " --data " + data, "importance" + with + " --data " + data,
          "cover" + with + " --train " + data + " --test " + data + " --criterion nc --criterion 'idc[m=2]'",
          "mutate" + with + " --test " + data + " --operator gf --operator ws --quality 1 --count 3",
          "attack" + with + " --data '" + data + "' --attack 'fgsm[eps=0.2]'"}) {
      const Outcome outcome = assay(command);
      EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    }
  }

  nlohmann::json json(const std::string& name) const {
    return nlohmann::json::parse(read_file(folder / name));
  }
};

TEST_F(Deployed, ForASingleRecord) {
  Net net("vector", 3);
  ValueId x = net.builder.add("MatMul", "hidden", {net.input({5}), net.weight("w1", {5, 8})});
  x = net.builder.add("MatMul", "out", {net.relu("relu", x), net.weight("w2", {8, 3})});
  const Graph graph = net.build(x);
  const Array records = test::uniform_array(net.rng, {60, 5});
  write_records("data.npz", graph, {{"input", records}}, classes_of(graph, records));
  expect_all("--model model.onnx", "data.npz,range=0:1");
}

TEST_F(Deployed, WithChannelsLast) {
  Net net("nhwc", 6);
  ValueId x =
      net.builder.add("Transpose", "to_first", {net.input({-1, 8, 8, 3})}, {{"perm", Ints{0, 3, 1, 2}}});
  x = net.relu("relu", net.conv("conv", x, 3, 4, 3));
  x = net.relu("relu2", net.dense("hidden", net.flatten("flatten", net.max_pool("pool", x)), 36, 8));
  const Graph graph = net.build(net.dense("out", x, 8, 3));
  const Array stored = test::uniform_array(net.rng, {60, 8, 8, 3});
  write_records("data.npz", graph, {{"input", stored}}, classes_of(graph, stored));
  expect_all("--model model.onnx", "data.npz,layout=nhwc,range=0:1");
  // Pictures as they are stored, told to have their channels first.
  const Outcome turned = assay(
      "evaluate --model model.onnx --data data.npz,layout=nhwc,range=0:1 --expect-accuracy 1 --tolerance 0");
  EXPECT_EQ(turned.code, 0) << turned.err;
  EXPECT_NE(turned.err.find("transposed to take them first"), std::string::npos) << turned.err;
  // What is written takes them last, as the file that was read.
  const std::string data = " data.npz,layout=nhwc,range=0:1 ", network = " --quiet --model model.onnx ";
  const auto written = [&](const std::string& command, const std::string& file) {
    const Outcome outcome = assay(command);
    ASSERT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    const Graph made = read_model(folder / file);
    EXPECT_EQ(made.value(made.inputs()[0]).shape, (Shape{-1, 8, 8, 3})) << command;
    const auto transposes =
        std::ranges::count_if(made.nodes(), [](const Node& node) { return node.op == "Transpose"; });
    EXPECT_EQ(transposes, 1) << command;
  };
  written("prune" + network + "--units layer=hidden,units=0 --mask --test" + data + "--out pruned.onnx",
          "pruned.onnx");
  written("mutate export" + network + "--test" + data + "--mutant 'ws@hidden#1' --out mutant.onnx",
          "mutant.onnx");
  written("retrain" + network + "--train" + data + "--test" + data + "--add" + data +
              "--count 10 --repeats 1 --epochs 1 --against none --evaluate-on none --out-dir retrained",
          "retrained/given.onnx");
  written("train" + network + "--data" + data + "--epochs 1 --out trained.onnx", "trained.onnx");
  written("model" + network + "--data" + data + "--write copy.onnx", "copy.onnx");
}

TEST_F(Deployed, WithSeveralOutputs) {
  Net net("heads", 2);
  const ValueId x = net.relu("relu", net.dense("hidden", net.input({-1, 4}), 4, 6));
  net.builder.output(net.builder.add("ArgMax", "label", {net.dense("first", x, 6, 3)}));
  net.builder.output(net.dense("second", x, 6, 2));
  net.builder.output(net.dense("third", x, 6, 5));
  const Graph graph = net.builder.build();
  const Array records = test::uniform_array(net.rng, {60, 4});
  write_records("data.npz", graph, {{"input", records}}, classes_of(graph, records));
  expect_all("--model model.onnx", "data.npz,range=0:1");
  EXPECT_EQ(assay("importance --quiet --model model.onnx --data data.npz --decision third --class 4").code,
            0);
  EXPECT_EQ(assay("importance --quiet --model model.onnx --data data.npz --class 4").code, 1);
  const Outcome wrong = assay("evaluate --model model.onnx --data data.npz --decision fourth");
  EXPECT_EQ(wrong.code, 1);
  EXPECT_NE(wrong.err.find("it has 'label', 'second', 'third'"), std::string::npos) << wrong.err;
  // What is inspected is the network whose decision it is.
  const auto hash_of = [&](const std::string& command, const std::string& decision) {
    const Outcome run = assay(command + " --quiet --model model.onnx --data data.npz --decision " + decision +
                              " --json result.json");
    EXPECT_EQ(run.code, 0) << run.err;
    return nlohmann::json::parse(read_file(folder / "result.json"))["provenance"]["model_hash"]
        .get<std::string>();
  };
  const std::string inspect = "inspect --hypotheses label --behaviour gradient";
  EXPECT_EQ(hash_of(inspect, "third"), hash_of("importance", "third"));
  EXPECT_NE(hash_of(inspect, "third"), hash_of(inspect, "second"));
}

// --decision chooses what is judged and trained; files that are written keep the order of the outputs.
TEST_F(Deployed, WithSeveralOutputsThatStayInOrder) {
  Net net("heads", 2);
  const ValueId x = net.relu("relu", net.dense("hidden", net.input({-1, 4}), 4, 6));
  net.builder.output(net.dense("first", x, 6, 2));
  net.builder.output(net.dense("second", x, 6, 3));
  net.builder.output(net.dense("third", x, 6, 5));
  std::vector<std::int64_t> classes;
  for (std::int64_t i = 0; i < 60; ++i) classes.push_back(i % 5);
  write_records("data.npz", net.builder.build(), {{"input", test::uniform_array(net.rng, {60, 4})}}, classes);
  const std::string data = " data.npz,range=0:1 ", network = " --quiet --model model.onnx --decision third ";
  const auto written = [&](const std::string& command, const std::string& file) {
    const Outcome outcome = assay(command);
    ASSERT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    const Graph graph = read_model(folder / file);
    std::vector<std::string> names;
    for (const ValueId id : graph.outputs()) names.push_back(graph.value(id).name);
    EXPECT_EQ(names, (std::vector<std::string>{"first", "second", "third"})) << command;
  };
  written("prune" + network + "--units layer=hidden,units=0 --test" + data + "--out pruned.onnx",
          "pruned.onnx");
  written("mutate export" + network + "--mutant 'gf@hidden#1' --out mutant.onnx", "mutant.onnx");
  written("retrain" + network + "--train" + data + "--test" + data + "--add" + data +
              "--count 10 --repeats 1 --epochs 1 --against none --evaluate-on none --out-dir retrained",
          "retrained/given.onnx");
  written("train" + network + "--data" + data + "--epochs 1 --out trained.onnx", "trained.onnx");
  // The third output is the one that was trained.
  const Graph before = read_model(folder / "model.onnx"), after = read_model(folder / "trained.onnx");
  const auto changed = [&](const std::string& name) {
    const auto was = before.constant(*before.find_value(name)).as<float>(),
               is = after.constant(*after.find_value(name)).as<float>();
    return !std::ranges::equal(was, is);
  };
  EXPECT_TRUE(changed("third/b"));
  EXPECT_EQ(assay("train --quiet --model model.onnx --data" + data + "--epochs 1 --out first.onnx").code, 6)
      << "five classes for the first output, which has two";
  EXPECT_EQ(assay("train --quiet --architecture lenet5 --decision 0 --data" + data + "--out no.onnx").code,
            1);
}

// Outputs for each position of records without labels: criteria that need no classes are measured.
TEST_F(Deployed, WithOutputsForEachPosition) {
  Net net("segments", 5);
  const ValueId x = net.relu("relu", net.conv("seen", net.input({-1, 1, 6, 6}), 1, 4, 3));
  const Graph graph = net.build(net.conv("scores", x, 4, 3, 1));
  write_onnx(graph, folder / "model.onnx");
  write_npz(folder / "data.npz", {{"x", test::uniform_array(net.rng, {40, 1, 6, 6})}});
  const std::string cover = "cover --quiet --model model.onnx --train data.npz --test data.npz ";
  const Outcome measured = assay(cover + "--criterion nc --criterion kmnc --json cover.json");
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_EQ(assay(cover + "--criterion 'idc[m=2]'").code, 4);
  const Outcome judged = assay("evaluate --quiet --model model.onnx --data data.npz");
  EXPECT_EQ(judged.code, 4);
  EXPECT_NE(judged.err.find("numeric targets"), std::string::npos) << judged.err;
}

TEST_F(Deployed, WithSeveralInputs) {
  Net net("pair", 4);
  const ValueId a = net.builder.input("a", DType::float32, {-1, 3}),
                b = net.builder.input("b", DType::float32, {-1, 2});
  ValueId x = net.builder.add("Concat", "both", {a, b}, {{"axis", std::int64_t{1}}});
  x = net.relu("relu", net.dense("hidden", x, 5, 6));
  const Graph graph = net.build(net.dense("out", x, 6, 3));
  const Array first = test::uniform_array(net.rng, {60, 3}), second = test::uniform_array(net.rng, {60, 2});
  const Session session(graph, {.threads = 1});
  const ValueId id = session.logits();
  const Array classes =
      session.run({{a, first}, {b, second}}, std::span(&id, 1)).at(id).argmax(1).contiguous();
  write_records("data.npz", graph, {{"a", first}, {"b", second}},
                {classes.elements<std::int64_t>(), classes.elements<std::int64_t>() + classes.count()});
  expect_all("--model model.onnx", "data.npz,inputs=a+b,range=0:1");
}

// Sign activations have no gradient: what follows gradients says so, and goes on when told to pass through.
TEST_F(Deployed, OfSignsAlone) {
  Net net("signs", 9);
  ValueId x = net.builder.add("Sign", "sign1", {net.dense("first", net.input({-1, 6}), 6, 12)});
  x = net.builder.add("Sign", "sign2", {net.dense("second", x, 12, 12)});
  const Graph graph = net.build(net.dense("out", x, 12, 3));
  const Array records = test::uniform_array(net.rng, {60, 6});
  write_records("data.npz", graph, {{"input", records}}, classes_of(graph, records));
  const std::string data = "data.npz,range=0:1";
  for (const std::string& command :
       {"importance --model model.onnx --layer first --data " + data,
        "cover --model model.onnx --layer first --train " + data + " --test " + data +
            " --criterion 'idc[m=2]'",
        "attack --model model.onnx --data " + data + " --attack 'fgsm[eps=0.2]'"}) {
    const Outcome outcome = assay(command);
    EXPECT_EQ(outcome.code, 4) << command << "\n" << outcome.out << outcome.err;
    EXPECT_NE(outcome.err.find("--straight-through"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(
      assay("mutate --quiet --model model.onnx --test " + data + " --operator gf --quality 1 --count 3").code,
      0);
  expect_all("--model model.onnx --straight-through", data);
  EXPECT_EQ(assay("evaluate --model net.onnx --data images-idx3-ubyte --straight-through").code, 1)
      << "no steps";
}

TEST_F(Deployed, InSixteenBitsWithTheDifferenceSaid) {
  const Outcome outcome =
      assay("evaluate --model net.onnx --data images-idx3-ubyte --precision bfloat16 --json out.json");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("in bfloat16: decision values of the first 200 records differ"),
            std::string::npos)
      << outcome.err;
  EXPECT_EQ(assay("evaluate --model net.onnx --data images-idx3-ubyte --precision half").code, 1);
}

TEST_F(Deployed, ThatWereNotFetched) {
  write_file(folder / "pointer.onnx", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n");
  write_file(folder / "pointer.npz", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12\n");
  for (const char* command : {"model pointer.onnx", "evaluate --model net.onnx --data pointer.npz"}) {
    const Outcome outcome = assay(command);
    EXPECT_NE(outcome.code, 0);
    EXPECT_NE(outcome.err.find("pointer of Git LFS"), std::string::npos) << outcome.err;
  }
}

// A network and what the quantiser of the tests makes of it, as files, with the float network's classes.
class Quantised : public Deployed {
 protected:
  void make(const Graph& plain, const Shape& record) {
    Rng rng(5);
    Shape shape = record;
    shape.insert(shape.begin(), 80);
    const Array records = test::uniform_array(rng, shape);
    write_records("data.npz", plain, {{"input", records}}, classes_of(plain, records));
    std::filesystem::rename(folder / "model.onnx", folder / "float.onnx");
    write_onnx(test::quantised(plain, records), folder / "int8.onnx");
  }
  void expect_everything() {
    const std::string data = "data.npz,range=0:1";
    expect_all("--model int8.onnx", data);
    const auto run = [&](const std::string& command) {
      const Outcome outcome = assay(command);
      EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    };
    run("cover --quiet --model float.onnx --train " + data + " --test " + data +
        " --criterion nc --criterion kmnc --profile float.profile --state float.cov");
    const std::string cover = "cover --quiet --model int8.onnx --profile float.profile --test " + data +
                              " --criterion nc --criterion kmnc --state int8.cov ";
    EXPECT_NE(assay(cover).code, 0) << "a profile of another network";
    run(cover + "--carry-over");
    run("diff --quiet float.cov int8.cov --json diff.json");
    run("mutate --quiet --model int8.onnx --test " + data +
        " --operator int8flip --quality 1 --count 6 --json mutants.json");
    EXPECT_GT(json("mutants.json")["facts"]["mutants"], 0) << json("mutants.json")["facts"];
    run("explore --quiet float.onnx int8.onnx --data '" + data +
        "[:20]' --constraint 'linf[eps=0.1]' --iterations 3 --plausibility none --json findings.json");
  }
};

TEST_F(Quantised, LeNetGoesThroughEveryCommand) {
  make(test::lenet_like(), {1, 12, 12});
  expect_everything();
}

TEST_F(Quantised, ResidualNetworkGoesThroughEveryCommand) {
  make(test::resnet_like(), {3, 8, 8});
  expect_everything();
}

}  // namespace
}  // namespace assay

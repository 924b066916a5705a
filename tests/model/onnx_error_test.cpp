// Damaged, hostile and unsupported files: each is an Error that names what is wrong.

#include <gtest/gtest.h>
#include <zip.h>

#include <assay/extend/random.h>
#include "assay/support/files/file.h"
#include "assay/support/memory.h"
#include "onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;

OnnxFile good() {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.weight(floats("w", {2, 2}, {1, 2, 3, 4}));
  file.output("y");
  file.node("MatMul", {"x", "w"}, {"h"}, "fc");
  file.node("Relu", {"h"}, {"y"}, "relu");
  return file;
}

// Damages a good file and expects the error.
void refuse(Fault fault, const Names& parts,
            const std::function<void(OnnxFile&, onnx::GraphProto&)>& damage) {
  OnnxFile file = good();
  damage(file, *file.proto.mutable_graph());
  expect_error(fault, parts, [&] { file.read(); });
}

TEST(OnnxErrors, TheGoodFileIsRead) { EXPECT_EQ(good().read().nodes().size(), 2U); }

TEST(OnnxErrors, EveryTruncationIsRefused) {
  const std::string bytes = good().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THROW(read_onnx(std::string_view(bytes).substr(0, size), {}, "cut"), Error) << size;
  }
}

TEST(OnnxErrors, RandomDamageNeverEscapesAsAnythingElse) {
  const std::string bytes = good().bytes();
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    std::string damaged = bytes;
    for (int i = 0; i < 3; ++i) damaged[rng.next() % damaged.size()] = static_cast<char>(rng.next());
    try {
      static_cast<void>(read_onnx(damaged, {}, "damaged"));
    } catch (const Error&) {
    }
  }
}

TEST(OnnxErrors, NodesOfOlderSetsWithoutInputOrOutput) {
  for (const char* op : {"Softmax", "LogSoftmax", "Hardmax", "Relu"}) {
    const auto old = [&](OnnxFile& file, onnx::GraphProto& graph) {
      file.proto.mutable_opset_import(0)->set_version(11);
      graph.mutable_node(1)->set_op_type(op);
      (*graph.mutable_node(1)->add_attribute()).set_name("axis");
      graph.mutable_node(1)->mutable_attribute(0)->set_type(onnx::AttributeProto::INT);
      graph.mutable_node(1)->mutable_attribute(0)->set_i(0);
    };
    refuse(Fault::model, {"no output"}, [&](auto& file, auto& graph) {
      old(file, graph);
      graph.mutable_node(1)->clear_output();
    });
  }
  refuse(Fault::model, {"input 0 is missing"}, [&](auto& file, auto& graph) {
    file.proto.mutable_opset_import(0)->set_version(11);
    graph.mutable_node(1)->set_op_type("Softmax");
    graph.mutable_node(1)->clear_input();
  });
}

TEST(OnnxErrors, HeaderOfTheFile) {
  expect_error(Fault::model, {"not an ONNX model"}, [] { read_onnx("", {}, "empty"); });
  expect_error(Fault::model, {"not an ONNX model"}, [] { read_onnx("hello, world", {}, "text"); });
  refuse(Fault::model, {"no version"}, [](auto& f, auto&) { f.proto.clear_opset_import(); });
  refuse(Fault::unsupported, {"operator set 0", "1 to 28"},
         [](auto& f, auto&) { f.proto.mutable_opset_import(0)->set_version(0); });
  refuse(Fault::unsupported, {"operator set 29", "opset_version="},
         [](auto& f, auto&) { f.proto.mutable_opset_import(0)->set_version(29); });
  refuse(Fault::unsupported, {"operator set 4294967303"},
         [](auto& f, auto&) { f.proto.mutable_opset_import(0)->set_version((std::int64_t{1} << 32) + 7); });
}

TEST(OnnxErrors, DimensionsOfTensors) {
  const auto dims = [](const Shape& shape) {
    return [shape](auto&, onnx::GraphProto& g) {
      g.mutable_initializer(0)->mutable_dims()->Assign(shape.begin(), shape.end());
    };
  };
  refuse(Fault::model, {"'w'", "6 elements", "data 4"}, dims({2, 3}));
  refuse(Fault::model, {"'w'", "negative"}, dims({-2, -2}));
  refuse(Fault::model, {"'w'", "64 bits"}, dims({std::int64_t{1} << 40, std::int64_t{1} << 40}));
  refuse(Fault::model, {"'w'"}, dims({std::int64_t{1} << 60}));
  refuse(Fault::resources, {"'w'"}, dims({std::int64_t{1} << 62}));
  refuse(Fault::model, {"'w'", "65 axes"}, dims(Shape(65, 1)));
}

TEST(OnnxErrors, DataOfTensors) {
  refuse(Fault::model, {"'w'", "16 bytes", "have 15"}, [](auto&, onnx::GraphProto& g) {
    g.mutable_initializer(0)->clear_float_data();
    g.mutable_initializer(0)->set_raw_data(std::string(15, 'x'));
  });
  refuse(Fault::model, {"'w'", "twice"},
         [](auto&, onnx::GraphProto& g) { g.mutable_initializer(0)->set_raw_data(std::string(16, 'x')); });
  refuse(Fault::unsupported, {"'w'", "segment"},
         [](auto&, onnx::GraphProto& g) { g.mutable_initializer(0)->mutable_segment()->set_begin(0); });
  const auto type = [](int t) {
    return [t](auto&, onnx::GraphProto& g) { g.mutable_initializer(0)->set_data_type(t); };
  };
  refuse(Fault::unsupported, {"'y'", "texts"}, type(onnx::TensorProto::STRING));
  refuse(Fault::unsupported, {"'w'", "complex64"}, type(onnx::TensorProto::COMPLEX64));
  refuse(Fault::unsupported, {"'w'", "type 99"}, type(99));
  refuse(Fault::model, {"'w'", "no element type"}, type(0));
  refuse(Fault::model, {"'w'", "data 0"}, type(onnx::TensorProto::INT64));
}

TEST(OnnxErrors, UnsignedNumbersBeyondInt64) {
  refuse(Fault::unsupported, {"uint64"}, [](auto&, onnx::GraphProto& g) {
    auto& tensor = *g.mutable_initializer(0);
    tensor.clear_float_data();
    tensor.set_data_type(onnx::TensorProto::UINT64);
    for (int i = 0; i < 4; ++i) tensor.add_uint64_data(~std::uint64_t{0});
  });
}

TEST(OnnxErrors, SparseWeights) {
  const auto sparse = [](std::int64_t place, std::int64_t dim) {
    return [=](auto&, onnx::GraphProto& g) {
      auto& made = *g.add_sparse_initializer();
      *made.mutable_values() = floats("s", {1}, {1});
      *made.mutable_indices() = integers("places", {place});
      made.add_dims(dim);
    };
  };
  refuse(Fault::model, {"'s'", "index 4", "outside"}, sparse(4, 4));
  refuse(Fault::model, {"'s'", "index -1", "outside"}, sparse(-1, 4));
  refuse(Fault::resources, {"'s'", "limit"}, sparse(0, std::int64_t{1} << 50));
  refuse(Fault::model, {"'s'", "not a shape"}, sparse(0, -1));
  refuse(Fault::model, {"'s'", "indices of another number"}, [](auto&, onnx::GraphProto& g) {
    auto& made = *g.add_sparse_initializer();
    *made.mutable_values() = floats("s", {1}, {1});
    *made.mutable_indices() = integers("places", {1, 2});
  });
}

// A few bytes of file each, and together more than there is.
TEST(OnnxErrors, ManySparseWeightsStayWithinTheLimit) {
  constexpr std::int64_t floats_each = 1 << 20;  // 4 MiB
  struct Limit {
    Limit() { set_memory_limit(10 << 20); }
    ~Limit() { set_memory_limit(0); }
  } limit;
  const auto several = [](int count) {
    return [=](auto&, onnx::GraphProto& g) {
      for (int i = 0; i < count; ++i) {
        auto& made = *g.add_sparse_initializer();
        *made.mutable_values() = floats("s" + std::to_string(i), {1}, {1});
        *made.mutable_indices() = integers("places", {0});
        made.add_dims(floats_each);
      }
      if (count == 2) g.clear_output();
    };
  };
  refuse(Fault::resources, {"'s2'", "sparse ones before it"}, several(3));
  refuse(Fault::model, {"no outputs"}, several(2));  // these are read
}

TEST(OnnxErrors, CyclesAndMissingInputs) {
  refuse(Fault::model, {"cycle", "'fc'"},
         [](auto&, onnx::GraphProto& g) { g.mutable_node(0)->set_input(0, "y"); });
  refuse(Fault::model, {"'fc'", "'ghost'", "no node"},
         [](auto&, onnx::GraphProto& g) { g.mutable_node(0)->set_input(0, "ghost"); });
  refuse(Fault::model, {"'ghost'"},
         [](auto&, onnx::GraphProto& g) { g.mutable_output(0)->set_name("ghost"); });
  refuse(Fault::model, {"no outputs"}, [](auto&, onnx::GraphProto& g) { g.clear_output(); });
  refuse(Fault::model, {"output has no name"},
         [](auto&, onnx::GraphProto& g) { g.mutable_output(0)->set_name(""); });
}

TEST(OnnxErrors, NamesThatAreThereTwice) {
  refuse(Fault::model, {"'relu'", "'h'", "twice"},
         [](auto&, onnx::GraphProto& g) { g.mutable_node(1)->set_output(0, "h"); });
  refuse(Fault::model, {"'w'", "twice"}, [](auto& f, auto&) { f.weight(floats("w", {1}, {1})); });
  refuse(Fault::model, {"'x'", "twice"}, [](auto& f, auto&) { f.input("x", {1}); });
  refuse(Fault::model, {"'relu'", "'w'"},
         [](auto&, onnx::GraphProto& g) { g.mutable_node(1)->set_output(0, "w"); });
  refuse(Fault::model, {"'relu'", "'alpha'", "twice"}, [](auto&, onnx::GraphProto& g) {
    set(*g.mutable_node(1), "alpha", 1.0f);
    set(*g.mutable_node(1), "alpha", 1.0f);
  });
  refuse(Fault::model, {"'h'", "twice"},
         [](auto& f, auto&) { set(f.node("Constant", {}, {"h"}), "value_float", 1.0f); });
}

TEST(OnnxErrors, NamesThatAreNotText) {
  for (const char* bad :
       {"a\nb", "\x1b[31m", "\xff\xfe", "\xc3", "\xed\xa0\x80", "\xc0\x80", "\xf4\x90\x80\x80"}) {
    refuse(Fault::model, {"printable"},
           [&](auto&, onnx::GraphProto& g) { g.mutable_node(0)->set_name(bad); });
    refuse(Fault::model, {"printable"},
           [&](auto&, onnx::GraphProto& g) { g.mutable_initializer(0)->set_name(bad); });
    refuse(Fault::model, {"printable"},
           [&](auto&, onnx::GraphProto& g) { g.mutable_node(0)->set_op_type(bad); });
    refuse(Fault::model, {"printable"},
           [&](auto&, onnx::GraphProto& g) { set(*g.mutable_node(0), "mode", bad); });
  }
  OnnxFile file = good();
  file.proto.mutable_graph()->mutable_node(0)->set_name("Schicht α\xf0\x9f\x99\x82");
  EXPECT_NO_THROW(file.read());
}

TEST(OnnxErrors, InputsThatAreNotTensorsOfKnownRank) {
  const auto type = [](const std::function<void(onnx::TypeProto&)>& change) {
    return [change](auto&, onnx::GraphProto& g) { change(*g.mutable_input(0)->mutable_type()); };
  };
  refuse(Fault::unsupported, {"'x'", "sequence"}, type([](auto& t) { t.mutable_sequence_type(); }));
  refuse(Fault::unsupported, {"'x'", "no shape"},
         type([](auto& t) { t.mutable_tensor_type()->clear_shape(); }));
  refuse(Fault::unsupported, {"'fc'", "operators on texts"},
         type([](auto& t) { t.mutable_tensor_type()->set_elem_type(8); }));
  refuse(Fault::model, {"'x'", "2^40"}, type([](auto& t) {
           t.mutable_tensor_type()->mutable_shape()->mutable_dim(1)->set_dim_value(std::int64_t{1} << 62);
         }));
  refuse(Fault::model, {"'x'", "2^40"}, type([](auto& t) {
           for (int i = 0; i < 50; ++i) t.mutable_tensor_type()->mutable_shape()->add_dim()->set_dim_value(4);
         }));
}

TEST(OnnxErrors, ControlFlow) {
  const auto holding = [](const char* op, const char* name) {
    return [=](auto& f, auto&) {
      auto& attribute = *f.node(op, {"x"}, {"z"}, "branch").add_attribute();
      attribute.set_name(name);
      attribute.set_type(onnx::AttributeProto::GRAPH);
      attribute.mutable_g();
    };
  };
  refuse(Fault::model, {"'branch'", "'then_branch' is missing"}, holding("If", "body"));
  refuse(Fault::model, {"'branch'", "'body' is missing"}, holding("Loop", "then_branch"));
  refuse(Fault::model, {"'branch'", "do not fit"}, holding("Scan", "body"));
  refuse(Fault::unsupported, {"'branch'", "other than If, Loop and Scan"}, holding("MyMap", "body"));
}

TEST(OnnxErrors, OtherDomainsAndFunctions) {
  const auto domain = [](const char* name) {
    return [name](auto&, onnx::GraphProto& g) { g.mutable_node(0)->set_domain(name); };
  };
  refuse(Fault::unsupported, {"'fc'", "'com.microsoft'", "optimisations"}, domain("com.microsoft"));
  refuse(Fault::unsupported, {"'fc'", "ai.onnx.ml", "linear models"}, domain("ai.onnx.ml"));
  OnnxFile file = good();
  file.proto.mutable_graph()->mutable_node(0)->set_domain("ai.onnx");
  EXPECT_NO_THROW(file.read());
}

TEST(OnnxErrors, QuantisedOperatorsWithoutTheirScales) {
  refuse(Fault::model, {"'fc'", "QLinearMatMul", "input 3 is missing"},
         [](auto&, onnx::GraphProto& g) { g.mutable_node(0)->set_op_type("QLinearMatMul"); });
}

TEST(OnnxErrors, AttributesThatCannotBeHeld) {
  const auto attribute = [](onnx::AttributeProto::AttributeType type) {
    return [type](auto&, onnx::GraphProto& g) {
      auto& added = *g.mutable_node(0)->add_attribute();
      added.set_name("odd");
      added.set_type(type);
    };
  };
  refuse(Fault::model, {"'odd'", "'fc'", "no type"}, attribute(onnx::AttributeProto::UNDEFINED));
  refuse(Fault::unsupported, {"'odd'", "'fc'"}, attribute(onnx::AttributeProto::TENSORS));
  refuse(Fault::model, {"'odd'", "'fc'", "no element type"}, attribute(onnx::AttributeProto::SPARSE_TENSOR));
  refuse(Fault::model, {"'odd'", "'fc'", "no element type"}, attribute(onnx::AttributeProto::TENSOR));
}

TEST(OnnxErrors, WrongTypesOfAttributes) {
  expect_error(Fault::model, {"'n'", "'axes'", "wrong type"}, [] {
    one_node(11, "Squeeze", {-1, 1}, [](auto& n) { set(n, "axes", 1.0f); }).read();
  });
}

// A message inside a message, `depth` times, in each of the two fields that make a graph hold a graph.
TEST(OnnxErrors, DeepNestingIsRefusedBeforeParsing) {
  onnx::ModelProto model;
  onnx::GraphProto* graph = model.mutable_graph();
  for (int depth = 0; depth < 1000; ++depth) {
    auto& attribute = *graph->add_node()->add_attribute();
    attribute.set_type(onnx::AttributeProto::GRAPH);
    graph = attribute.mutable_g();
  }
  const std::string bytes = model.SerializeAsString();
  expect_error(Fault::model, {"nested"}, [&] { read_onnx(bytes, {}, "deep"); });
}

// Two bytes of file for each node object of some 150 bytes.
TEST(OnnxErrors, HugeCountsOfPartsAreRefusedBeforeParsing) {
  std::string nodes;
  for (int i = 0; i < 8'000'001; ++i) nodes += std::string_view("\x0a\x00", 2);
  std::string bytes("\x3a", 1);  // ModelProto.graph
  for (std::size_t size = nodes.size(); size > 0; size >>= 7) {
    bytes += static_cast<char>((size & 0x7f) | (size > 0x7f ? 0x80 : 0));
  }
  expect_error(Fault::resources, {"more than"}, [&] { read_onnx(bytes + nodes, {}, "many"); });
}

TEST(OnnxErrors, AHundredThousandNodesAreFine) {
  OnnxFile file;
  file.input("x", {-1, 2});
  file.output("v100000");
  for (int i = 0; i < 100'000; ++i) {
    file.node("Relu", {i == 0 ? "x" : "v" + std::to_string(i)}, {"v" + std::to_string(i + 1)});
  }
  EXPECT_EQ(file.read().nodes().size(), 100'000U);
}

TEST(ReadModel, NamesTheFileAndKnowsFormatsByTheirContent) {
  const auto folder = fresh_folder("assay_read_model");
  const auto refuse_file = [&](Fault fault, const Names& parts) {
    Names all = parts;
    all.push_back((folder / "model").string());
    expect_error(fault, all, [&] { read_model(folder / "model"); });
  };
  refuse_file(Fault::io, {"no such file"});
  write_file(folder / "model", "");
  refuse_file(Fault::model, {"empty"});
  write_file(folder / "model", "\x80\x02}q");
  refuse_file(Fault::unsupported, {"is a pickle", "torch.onnx.export"});
  write_file(folder / "model", "some text that is nothing");
  refuse_file(Fault::model, {"not an ONNX model"});
  write_file(folder / "model", good().bytes());
  EXPECT_EQ(read_model(folder / "model").nodes().size(), 2U);
  write_file(folder / "model", std::string("\x89HDF\r\n\x1a\n", 8) + "truncated");
  EXPECT_THROW(read_model(folder / "model"), Error);
  write_file(folder / "model", std::string("PK\x03\x04", 4) + "truncated");
  EXPECT_THROW(read_model(folder / "model"), Error);
  expect_error(Fault::unsupported, {folder.string(), "is a folder"}, [&] { read_model(folder); });
  write_file(folder / "config.json", "{}");
  write_file(folder / "model.weights.h5", "");
  expect_error(Fault::unsupported, {folder.string(), ".keras archive that was unpacked", "zip -r"},
               [&] { read_model(folder); });
  write_file(folder / "saved_model.pb", "\x08\x01");
  for (const auto& saved : {folder, folder / "saved_model.pb"}) {
    expect_error(Fault::unsupported, {"SavedModel", "tf2onnx.convert --saved-model " + folder.string()},
                 [&] { read_model(saved); });
  }
}

// A zip archive with these entries, stored as they are.
void write_archive(const std::filesystem::path& path, const std::vector<std::string>& names) {
  std::filesystem::remove(path);
  int code = 0;
  zip_t* archive = zip_open(path.c_str(), ZIP_CREATE, &code);
  for (const std::string& name : names)
    zip_file_add(archive, name.c_str(), zip_source_buffer(archive, "{}", 2, 0), ZIP_FL_ENC_UTF_8);
  zip_close(archive);
}

TEST(ReadModel, SaysWhatFilesOfOtherKindsAreAndHowToComeToOnnx) {
  const auto folder = fresh_folder("assay_foreign");
  const auto refuse = [&](const std::string& name, const Names& parts) {
    expect_error(Fault::unsupported, parts, [&] { read_model(folder / name); });
  };
  const auto refuse_archive = [&](const std::string& name, const std::vector<std::string>& entries,
                                  const Names& parts) {
    write_archive(folder / name, entries);
    refuse(name, parts);
  };
  refuse_archive("net.pt", {"net/data.pkl", "net/data/0"},
                 {"file of PyTorch", "load_state_dict(torch.load('net.pt'))"});
  refuse_archive("net.jit", {"net/data.pkl", "net/code/__torch__.py", "net/constants.pkl"},
                 {"TorchScript", "torch.jit.load('net.jit')", "net.onnx"});
  refuse_archive("net.pt2", {"net/archive_format", "net/models/model.json"},
                 {"torch.export", "torch.export.load('net.pt2')"});
  refuse_archive("old.pt2", {"serialized_exported_program.json", "version"},
                 {"torch.export.load('old.pt2')"});
  refuse_archive("fast.pt2", {"net/archive_format", "net/data/aotinductor/model/x.so"}, {"compiled code"});
  refuse_archive("data.npz", {"x.npy", "y.npy"}, {"arrays of NumPy", "give it as data"});
  refuse_archive("packed.zip", {"folder/net.onnx"}, {"holds an ONNX file", "unpack it"});
  const std::pair<const char*, std::pair<std::string, Names>> kinds[] = {
      {"net.tflite",
       {std::string("\x1c\0\0\0TFL3", 8), {"TensorFlow Lite", "--tflite net.tflite --output net.onnx"}}},
      {"net.ort", {std::string("\x18\0\0\0ORTM", 8), {"ONNX Runtime", ".onnx file that it was made from"}}},
      {"net.gguf", {"GGUF\x03", {"llama.cpp"}}},
      {"x.npy", {"\x93NUMPY\x01", {"arrays of NumPy"}}},
      {"old.pth",
       {std::string("\x80\x02\x8a\x0al\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15), {"file of PyTorch"}}},
      {"forest.pkl",
       {"\x80\x04\x95sklearn.ensemble._forest",
        {"is a pickle", "sklearn", "skl2onnx.to_onnx", "'forest.onnx'"}}},
      {"trees.pkl", {"\x80\x05xgboost.core", {"is a pickle", "convert_xgboost"}}},
      {"text.pkl", {"(dp0\nS'a'\n", {"is a pickle"}}},
      {"any.bin", {"\x80\x03}q", {"is a pickle"}}},
      {"graph.pb", {"\x0a\x07\x0a\x01x", {"frozen graph", "--graphdef graph.pb"}}},
      {"net.caffemodel", {"\x0a\x01x", {"Caffe"}}},
      {"photo.png", {"\x89PNG\r\n", {"is a picture"}}}};
  for (const auto& [name, kind] : kinds) {
    write_file(folder / name, kind.first);
    SCOPED_TRACE(name);
    refuse(name, kind.second);
  }
  write_file(folder / "net.plan", good().bytes());  // the content decides
  EXPECT_EQ(read_model(folder / "net.plan").nodes().size(), 2U);
}

}  // namespace
}  // namespace assay

// Networks whose inputs are texts: what the Graph takes, and what tables of texts become.

#include <gmock/gmock.h>

#include <fstream>

#include <assay/dataset.h>
#include "assay/model/text_inputs.h"
#include "tests/model/onnx_build.h"

namespace assay {
namespace {

using namespace testing_onnx;
using ::testing::ElementsAre;
using Words = std::vector<std::string>;

void set_texts(onnx::NodeProto& node, const std::string& name, const Words& texts) {
  auto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(onnx::AttributeProto::STRINGS);
  for (const auto& text : texts) attribute.add_strings(text);
}

onnx::NodeProto& tokenizer(OnnxFile& file, const std::string& from, const std::string& to,
                           const std::string& expression) {
  auto& node = file.node("Tokenizer", {from}, {to}, to + "_node");
  node.set_domain("com.microsoft");
  set(node, "tokenexp", expression.c_str());
  set(node, "mincharnum", std::int64_t{1});
  return node;
}

// Small letters of `text`, cut at what is no letter, and how often "cat" and "dog" and "a cat" occur.
OnnxFile counted_words(const std::string& expression = "[a-z]+") {
  OnnxFile file(18);
  file.input("text", {-1, 1}, onnx::TensorProto::STRING);
  file.weight(integers("flat", {-1}));
  file.node("Reshape", {"text", "flat"}, {"flattened"});
  set(file.node("StringNormalizer", {"flattened"}, {"small"}), "case_change_action", "LOWER");
  tokenizer(file, "small", "tokens", expression);
  file.node("Flatten", {"tokens"}, {"flat_tokens"});
  auto& counts = file.node("TfIdfVectorizer", {"flat_tokens"}, {"y"}, "counts");
  set(counts, "mode", "TF");
  for (const char* const length : {"min_gram_length", "max_gram_length"})
    set(counts, length, std::int64_t{length[1] == 'i' ? 1 : 2});
  set(counts, "max_skip_count", std::int64_t{0});
  set(counts, "ngram_counts", Ints{0, 2});
  set(counts, "ngram_indexes", Ints{0, 1, 2});
  set_texts(counts, "pool_strings", {"cat", "dog", "a", "cat"});
  file.output("y");
  return file;
}

std::string file_of(const OnnxFile& file, const std::string& name) {
  const auto path = fresh_folder(name) / "net.onnx";
  std::ofstream(path, std::ios::binary) << file.bytes();
  return path.string();
}

std::string table(const std::string& name, const std::string& contents) {
  const auto path = fresh_folder(name + "_table") / "table.csv";
  std::ofstream(path) << contents;
  return path.string();
}

Ints integers_of(const Array& array) {
  const Array values = array.contiguous();
  return {values.as<std::int64_t>().begin(), values.as<std::int64_t>().end()};
}

TEST(Texts, AreNumbersOfTheWordsThatTheNetworkKnows) {
  const Graph graph = counted_words().read();
  ASSERT_EQ(graph.inputs().size(), 1U);
  EXPECT_EQ(graph.value(graph.inputs()[0]).dtype, DType::int64);
  EXPECT_THAT(graph.notices()[0], ::testing::HasSubstr("words=NETWORK"));
  const std::string data = table("counts", "text,y\nA Cat! a dog,1\nbird,0\n\"CAT, cat cat\",1\n");
  const auto set = open_dataset(data + ",label=y,words=" + file_of(counted_words(), "counts"));
  const std::size_t all[] = {0, 1, 2};
  const Batch batch = set->read(all);
  EXPECT_EQ(batch.inputs.shape(), (Shape{3, 4}));
  // a, cat, dog are 1, 2, 3; other words, and what only fills up, are 0.
  EXPECT_THAT(integers_of(batch.inputs), ElementsAre(1, 2, 1, 3, 0, 0, 0, 0, 2, 2, 2, 0));
  EXPECT_THAT(batch.labels, ElementsAre(1, 0, 1));
}

TEST(Texts, AreCutToALength) {
  const std::string data =
      table("cut", "text,y\na cat a dog,1\nbird,0\n") + ",label=y,words=" + file_of(counted_words(), "cut");
  EXPECT_EQ(open_dataset(data + ",length=2")->record_shape(), (Shape{2}));
  EXPECT_EQ(open_dataset(data + ",length=9")->record_shape(), (Shape{9}));
  expect_error(Fault::usage, {"length=0"}, [&] { open_dataset(data + ",length=0"); });
}

// Like ONNX Runtime: the longest match, no empty ones, and a point for every character.
TEST(Texts, AreCutByLongestMatches) {
  const auto numbers = [](const std::string& expression, const std::string& text) {
    const std::string data = table("longest", "text,n\n\"" + text + "\",1\n");
    const auto set = open_dataset(data + ",target=n,words=" + file_of(counted_words(expression), "longest"));
    const std::size_t first[] = {0};
    return integers_of(set->read(first).inputs);
  };
  EXPECT_THAT(numbers("c|cat|do*g?", "cat dog"), ElementsAre(2, 3));
  EXPECT_THAT(numbers("[a-z]*", "1 cat2dog"), ElementsAre(2, 3));
  EXPECT_THAT(numbers(".", "a b"), ElementsAre(1, 0, 0));
}

// Columns of texts beside numbers: the first category's column, and a number for the second.
OnnxFile categories() {
  OnnxFile file(18);
  file.input("city", {-1, 1}, onnx::TensorProto::STRING);
  file.input("job", {-1, 1}, onnx::TensorProto::STRING);
  file.input("age", {-1, 1});
  auto& hot = file.node("OneHotEncoder", {"city"}, {"hot"});
  hot.set_domain("ai.onnx.ml");
  set_texts(hot, "cats_strings", {"Rome", "Oslo"});
  file.weight(integers("wide", {-1, 2}));
  file.node("Reshape", {"hot", "wide"}, {"hot_rows"});
  auto& mapper = file.node("CategoryMapper", {"job"}, {"number"});
  mapper.set_domain("ai.onnx.ml");
  set_texts(mapper, "cats_strings", {"cook", "pilot"});
  set(mapper, "cats_int64s", Ints{7, 8});
  set(file.node("Cast", {"number"}, {"real"}), "to", std::int64_t{onnx::TensorProto::FLOAT});
  set(file.node("Concat", {"hot_rows", "real", "age"}, {"y"}), "axis", std::int64_t{1});
  file.output("y");
  return file;
}

TEST(Texts, InColumnsAreFoundByTheNamesOfInputs) {
  const std::string net = file_of(categories(), "columns");
  const std::string by_name = table("names", "age,job,city,y\n1.5,pilot,Oslo,0\n2,nurse,Rome,1\n");
  const auto set = open_dataset(by_name + ",label=y,words=" + net);
  const std::size_t all[] = {0, 1};
  const Batch batch = set->read(all);
  EXPECT_EQ(batch.input_name, "city");
  EXPECT_THAT(integers_of(batch.inputs), ElementsAre(1, 2));  // Oslo, Rome, cook, pilot
  EXPECT_EQ(batch.others[0].name, "job");
  EXPECT_THAT(integers_of(batch.others[0].values), ElementsAre(4, 0));
  EXPECT_THAT(batch.others[1].values.as<float>(), ElementsAre(1.5F, 2));
  const std::string in_order = table("order", "town,work,years,y\nOslo,pilot,1.5,0\nRome,nurse,2,1\n");
  EXPECT_THAT(integers_of(open_dataset(in_order + ",label=y,words=" + net)->read(all).inputs),
              ElementsAre(1, 2));
}

TEST(Texts, ColumnsOfNumbersAloneAreInputsByTheirNames) {
  OnnxFile file(18);
  file.input("age", {-1, 1});
  file.input("size", {-1, 2});
  set(file.node("Concat", {"age", "size"}, {"y"}), "axis", std::int64_t{1});
  file.output("y");
  const auto set = open_dataset(table("reals", "size 1,age,size 0,y\n3,1,2,0\n6,4,5.5,1\n") +
                                ",label=y,words=" + file_of(file, "reals"));
  const std::size_t all[] = {0, 1};
  const Batch batch = set->read(all);
  EXPECT_EQ(batch.input_name, "age");
  EXPECT_THAT(batch.inputs.as<float>(), ElementsAre(1, 4));
  ASSERT_EQ(batch.others.size(), 1U);
  EXPECT_EQ(batch.others[0].name, "size");
  EXPECT_THAT(batch.others[0].values.as<float>(), ElementsAre(2, 3, 5.5F, 6));
  EXPECT_EQ(set->describe().find("vocabulary"), std::string::npos) << "there are no words";
}

TEST(Texts, ThatDoNotFitAreRefused) {
  const std::string net = file_of(categories(), "refused");
  const auto refused = [&](Fault fault, const Names& parts, const std::string& contents) {
    const std::string data = table("refused", contents) + ",words=" + net;
    expect_error(fault, parts, [&] { open_dataset(data); });
  };
  refused(Fault::usage, {"city, job, age", "has city, job", "ignore="}, "city,job\nRome,cook\n");
  refused(Fault::usage, {"city, job, age", "has city, job, age, z"}, "city,job,age,z\nRome,cook,1,2\n");
  refused(Fault::data, {"knows no word of its input 'city'"}, "city,job,age\nParis,cook,1\n");
  refused(Fault::data, {"row 1", "'x' is not a number"}, "city,job,age\nRome,cook,x\n");
  const std::string numbers = file_of(one_node(18, "Relu"), "numbers");
  expect_error(Fault::usage,
               {"no input of this network is a text", "several inputs of columns", "leave words= out"},
               [&] { open_dataset(table("none", "a,b\n1,2\n") + ",words=" + numbers); });
}

// Words of one of two columns.
OnnxFile words_of_column(std::int64_t number) {
  OnnxFile file(18);
  file.input("x", {-1, 2}, onnx::TensorProto::STRING);
  file.weight(integers("which", {number}));
  auto& column = file.node("ArrayFeatureExtractor", {"x", "which"}, {"column"});
  column.set_domain("ai.onnx.ml");
  tokenizer(file, "column", "tokens", "[a-z]+");
  file.node("Flatten", {"tokens"}, {"rows"});
  auto& encoder = file.node("LabelEncoder", {"rows"}, {"numbers"});
  encoder.set_domain("ai.onnx.ml");
  set_texts(encoder, "keys_strings", {"dog", "cat"});
  set(encoder, "values_int64s", Ints{5, 6});
  set(file.node("Cast", {"numbers"}, {"y"}), "to", std::int64_t{onnx::TensorProto::FLOAT});
  file.output("y");
  return file;
}

TEST(Texts, OfOneInputAreSelectedAndCutByColumn) {
  const OnnxFile file = words_of_column(1);
  const TextInputs texts = text_inputs_of(file_of(file, "column"));
  const TextInputs others = text_inputs_of(file_of(words_of_column(0), "other_column"));
  EXPECT_EQ(others.words, texts.words);
  EXPECT_NE(vocabulary_of(others), vocabulary_of(texts)) << "their numbers are of other texts";
  ASSERT_EQ(texts.made.size(), 1U);
  EXPECT_EQ(texts.made[0].column, 1);
  EXPECT_THAT(texts.words, ElementsAre("cat", "dog"));
  const Graph graph = file.read();
  EXPECT_EQ(graph.value(graph.inputs()[0]).name, "x/words");
}

TEST(Texts, ThatOperatorsLeaveOutOrJoinAreRefused) {
  OnnxFile joined(20);
  joined.input("a", {-1, 1}, onnx::TensorProto::STRING);
  joined.node("StringConcat", {"a", "a"}, {"y"}, "joining");
  joined.output("y");
  expect_error(Fault::unsupported, {"'joining' (StringConcat)"}, [&] { joined.read(); });
  OnnxFile stops(18);
  stops.input("a", {-1}, onnx::TensorProto::STRING);
  set_texts(stops.node("StringNormalizer", {"a"}, {"y"}, "stopping"), "stopwords", {"the"});
  stops.output("y");
  expect_error(Fault::unsupported, {"'stopping'", "stopwords"}, [&] { stops.read(); });
}

TEST(Texts, DictionariesAreColumnsOfTheirKeys) {
  OnnxFile file(18);
  auto& input = *file.proto.mutable_graph()->add_input();
  input.set_name("x");
  auto& map = *input.mutable_type()->mutable_map_type();
  map.set_key_type(onnx::TensorProto::STRING);
  map.mutable_value_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::FLOAT);
  auto& node = file.node("DictVectorizer", {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  set_texts(node, "string_vocabulary", {"b", "a"});
  file.output("y");
  const Graph graph = file.read();
  EXPECT_EQ(graph.value(graph.inputs()[0]).shape, (Shape{-1, 2}));
  EXPECT_THAT(graph.notices()[0], ::testing::HasSubstr("b, a"));
  const std::string data = table("keys", "a,b\n1,2\n3,\n") + ",words=" + file_of(file, "keys");
  const std::size_t all[] = {0, 1};
  EXPECT_THAT(open_dataset(data)->read(all).inputs.as<float>(), ElementsAre(2, 1, 0, 3));
}

}  // namespace
}  // namespace assay

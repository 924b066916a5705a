#include "assay/model/onnx/number_texts.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <assay/error.h>
#include "assay/model/onnx/body.h"
#include "assay/model/onnx/order.h"
#include "assay/model/onnx/tensor.h"
#include "assay/model/onnx/text_nodes.h"
#include "assay/support/text/text.h"

namespace assay::onnx_format {
namespace {

using Integers = std::vector<std::int64_t>;

bool takes_texts(const onnx::GraphProto& graph) {
  return std::ranges::any_of(graph.input(), [](const onnx::ValueInfoProto& input) {
    return input.type().has_map_type() || input.type().tensor_type().elem_type() == onnx::TensorProto::STRING;
  });
}

// What is known of a value that holds texts.
struct TextValue {
  std::string from;                         // the input that they come from
  std::optional<std::int64_t> column = {};  // of which they are the only one
  int rank = 2;
  std::vector<WordRule> rules = {};  // that are still to be applied
  bool is_written = false;           // a node makes the value, rules applied
  bool is_made = false;              // it was moved since
};

bool holds_reals(int type) {
  return type == onnx::TensorProto::FLOAT || type == onnx::TensorProto::DOUBLE ||
         type == onnx::TensorProto::FLOAT16 || type == onnx::TensorProto::BFLOAT16;
}

FileInput file_input(const onnx::ValueInfoProto& input) {
  FileInput made{.name = input.name()};
  if (input.type().has_map_type()) return made;
  const auto& tensor = input.type().tensor_type();
  made.is_text = tensor.elem_type() == onnx::TensorProto::STRING;
  made.dtype = holds_reals(tensor.elem_type()) ? DType::float32 : DType::int64;
  made.rank = tensor.shape().dim_size();
  made.width = made.rank < 2 ? 1 : std::max<std::int64_t>(1, tensor.shape().dim(1).dim_value());
  if (made.rank > 1 && !tensor.shape().dim(1).has_dim_value()) made.width = -1;
  return made;
}

class TextNumbering {
 public:
  TextNumbering(onnx::ModelProto& model, const std::filesystem::path& folder)
      : graph_(*model.mutable_graph()), tensors_(folder) {}

  TextInputs run() {
    for (const onnx::TensorProto& weight : graph_.initializer()) constants_.insert(weight.name());
    for (const onnx::NodeProto& node : graph_.node())
      names_.insert(node.output().begin(), node.output().end());
    for (const onnx::ValueInfoProto& input : graph_.input()) take_input(input);
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph_.mutable_node());
    collect_words(nodes);
    for (onnx::NodeProto& node : nodes) take_node(node);
    drop_unread_movements();
    set_types();
    return finished();
  }

 private:
  void take_input(const onnx::ValueInfoProto& input) {
    if (constants_.contains(input.name())) return;
    names_.insert(input.name());
    FileInput made = file_input(input);
    if (input.type().has_map_type()) dictionaries_.insert(input.name());
    if (made.is_text) add_text(made);
    result_.given.push_back(std::move(made));
  }

  void add_text(const FileInput& input) {
    if (input.rank < 1 || input.rank > 2)
      fail(Fault::unsupported,
           "graph input '{}' holds texts along {} axes; export the network with [N] or [N, columns]",
           input.name, input.rank);
    texts_[input.name] = {.from = input.name,
                          .column = input.width == 1 ? std::optional<std::int64_t>(0) : std::nullopt,
                          .rank = input.rank};
  }

  // Words are numbered before any node is written, as their order is that of all of them.
  void collect_words(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes) {
    for (const onnx::NodeProto& node : nodes) {
      const WordList* const list = word_list_of(node);
      if (list == nullptr) continue;
      const auto texts = texts_in(node, list->texts);
      result_.words.insert(result_.words.end(), texts.begin(), texts.end());
    }
    std::ranges::sort(result_.words);
    result_.words.erase(std::unique(result_.words.begin(), result_.words.end()), result_.words.end());
  }

  Integers numbers_of(const std::vector<std::string>& texts) const {
    Integers numbers;
    for (const std::string& text : texts)
      numbers.push_back(std::ranges::lower_bound(result_.words, text) - result_.words.begin() + 1);
    return numbers;
  }

  void take_node(onnx::NodeProto& node) {
    const bool of_texts =
        std::ranges::any_of(node.input(), [&](const std::string& name) { return texts_.contains(name); });
    if (node.op_type() == "DictVectorizer" && node.input_size() == 1 && dictionaries_.contains(node.input(0)))
      take_dictionary(node);
    if (of_texts && add_rule(node)) return;
    if (of_texts) take_texts(node);
    require_no_texts_inside(node);
    *graph_.add_node() = node;
  }

  void require_no_texts_inside(const onnx::NodeProto& node) const {
    for (const onnx::AttributeProto& attribute : node.attribute()) {
      if (!attribute.has_g()) continue;
      for (const std::string& name : captured_names(attribute.g()))
        if (texts_.contains(name))
          fail(Fault::unsupported,
               "{}: its body reads the texts '{}'; export the network without branches on texts",
               described(node), name);
    }
  }

  void take_texts(onnx::NodeProto& node) {
    for (const std::string& name : node.input())
      if (texts_.contains(name)) apply_rules(name);
    if (asks_for_shape(node)) return;
    if (moves_texts(node)) return move(node);
    const WordList* const list = word_list_of(node);
    if (list != nullptr) {
      require_categories(node, *list);
      return look_up_numbers(node, *list);
    }
    fail(Fault::unsupported,
         "{}: of operators on texts only those are known that normalise and cut them, look words up and move "
         "them; export the part of the network after this operator",
         described(node));
  }

  // Of an encoder that fails for texts that it does not know, and takes them as records have them.
  void require_categories(const onnx::NodeProto& node, const WordList& list) {
    if (node.op_type() != "OneHotEncoder" || integer_in(node, "zeros", 1) != 0) return;
    const TextValue& value = texts_.at(node.input(0));
    if (!value.rules.empty() || value.is_made) return;
    Categories known{value.from, value.column, texts_in(node, list.texts), described(node)};
    std::ranges::sort(known.texts);
    result_.required.push_back(std::move(known));
  }

  // A list of texts becomes that of their numbers.
  void look_up_numbers(onnx::NodeProto& node, const WordList& list) {
    const auto texts = texts_in(node, list.texts);
    const bool mapper = node.op_type() == "CategoryMapper", first = list.texts == "classes_strings";
    if (node.op_type() == "LabelEncoder" && attribute_in(node, "values_strings") != nullptr)
      fail(Fault::unsupported,
           "{}: texts that become other texts are not supported; export it with numbers as values",
           described(node));
    Integers values;
    for (std::int64_t i = 0; first && i < std::ssize(texts); ++i) values.push_back(i);
    if (mapper) {
      const onnx::AttributeProto* const found = attribute_in(node, "cats_int64s");
      if (found != nullptr) values.assign(found->ints().begin(), found->ints().end());
      remove_attribute(node, "cats_int64s");
      node.set_op_type("LabelEncoder");
    }
    remove_attribute(node, list.texts);
    set_integers(node, std::string(list.numbers), numbers_of(texts));
    if (mapper || first) set_integers(node, "values_int64s", values);
  }

  // A column for each key.
  void take_dictionary(onnx::NodeProto& node) {
    const auto input = std::ranges::find(result_.given, node.input(0), &FileInput::name);
    input->columns = texts_in(node, "string_vocabulary");
    if (const auto* numbers = attribute_in(node, "int64_vocabulary"); numbers != nullptr)
      for (const std::int64_t key : numbers->ints()) input->columns.push_back(std::to_string(key));
    if (input->columns.empty()) fail(Fault::model, "{}: it has no vocabulary", described(node));
    input->width = std::ssize(input->columns);
    node.set_op_type("Identity");
    node.clear_domain();
    node.clear_attribute();
  }

  // Whether the node changes or cuts texts, which is done when records are read.
  bool add_rule(onnx::NodeProto& node) {
    const bool cuts = node.op_type() == "Tokenizer";
    if (!cuts && node.op_type() != "StringNormalizer") return false;
    if (node.input_size() != 1 || node.output_size() != 1)
      fail(Fault::model, "{}: it has one input and one output", described(node));
    require_all_texts(node);
    const std::string how = text_in(node, "case_change_action");
    if (!cuts && how != "LOWER" && how != "UPPER") {
      node.set_op_type("Identity");
      node.clear_attribute();
      return false;
    }
    TextValue value = texts_.at(node.input(0));
    const bool is_cut = !value.rules.empty() && value.rules.back().makes_words();
    if (!value.column || value.is_made || is_cut)
      fail(Fault::unsupported,
           "{}: its texts are not one column of an input; export the network without this operator",
           described(node));
    const auto letters = how == "LOWER" ? WordRule::Kind::small_letters : WordRule::Kind::capitals;
    value.rules.push_back(cuts ? rule_of_tokenizer(node) : WordRule{.kind = letters});
    value.is_written = false;
    texts_[node.output(0)] = value;
    if (cuts) apply_rules(node.output(0));
    return true;
  }

  static void require_all_texts(const onnx::NodeProto& node) {
    if (texts_in(node, "stopwords").empty()) return;
    fail(Fault::unsupported,
         "{}: leaving texts out changes the number of records; export it without stopwords", described(node));
  }

  static WordRule rule_of_tokenizer(const onnx::NodeProto& node) {
    const std::string expression = text_in(node, "tokenexp");
    const auto separators = texts_in(node, "separators");
    WordRule rule{.shortest = integer_in(node, "mincharnum", 1), .marked = integer_in(node, "mark", 0) != 0};
    if (expression == "." || separators == std::vector<std::string>{""}) return rule;
    if (expression.empty() == separators.empty())
      fail(Fault::model, "{}: either tokenexp or separators is needed", described(node));
    rule.kind = expression.empty() ? WordRule::Kind::separators : WordRule::Kind::tokens;
    rule.expressions = expression.empty() ? separators : std::vector<std::string>{expression};
    return rule;
  }

  // Makes the value of this name out of a new input to which its rules were applied.
  void apply_rules(const std::string& name) {
    TextValue& value = texts_.at(name);
    if (value.rules.empty() || std::exchange(value.is_written, true)) return;
    WordInput wanted{.name = {}, .from = value.from, .column = value.column, .rules = value.rules};
    auto found = std::ranges::find_if(result_.made, [&](const WordInput& one) {
      return one.from == wanted.from && one.column == wanted.column && one.rules == wanted.rules;
    });
    if (found == result_.made.end()) {
      wanted.name = fresh(value.from + "/words");
      found = result_.made.insert(found, wanted);
    }
    // [N, words] or [N, 1] as if the rules had been applied to [N] or [N, 1].
    Integers shape{0, 1, -1};
    if (value.rank == 1) shape = found->is_cut() ? Integers{0, -1} : Integers{-1};
    if (value.rank == 2 && !found->is_cut()) shape = {-1, 1};
    reshape(found->name, name, shape);
    value.rank += found->is_cut() ? 1 : 0;
  }

  void reshape(const std::string& from, const std::string& to, const Integers& shape) {
    const std::string sizes = fresh(to + "/shape");
    write_tensor(Array::of<std::int64_t>({std::ssize(shape)}, shape), sizes, *graph_.add_initializer());
    onnx::NodeProto& node = *graph_.add_node();
    node.set_op_type("Reshape");
    node.set_name(fresh(to + "/words"));
    node.add_input(from);
    node.add_input(sizes);
    node.add_output(to);
    movements_.insert(to);
  }

  void move(const onnx::NodeProto& node) {
    TextValue from = texts_.at(
        *std::ranges::find_if(node.input(), [&](const std::string& name) { return texts_.contains(name); }));
    for (int i = 0; i < node.output_size(); ++i) {
      TextValue& to = texts_[node.output(i)] = from;
      to.is_made = from.is_made || !from.rules.empty();
      to.rules.clear();
      place_column(node, i, to);
      movements_.insert(node.output(i));
    }
  }

  // Which column is left after the movement, and along how many axes.
  void place_column(const onnx::NodeProto& node, int output, TextValue& value) {
    const std::string& op = node.op_type();
    const bool along_columns = integer_in(node, "axis", 0) == 1 || integer_in(node, "axis", 0) == -1;
    const Integers numbers = node.input_size() > 1 ? constant(node.input(1)) : Integers{};
    if (op == "Identity") return;
    if (op == "Flatten" && value.column) {
      value.rank = 2;
    } else if (op == "Squeeze" && value.column) {
      value.rank = 1;
    } else if (op == "Unsqueeze" && value.column && value.rank == 1) {
      value.rank = 2;
    } else if (op == "Reshape" && value.column && (numbers == Integers{-1} || numbers == Integers{-1, 1})) {
      value.rank = static_cast<int>(numbers.size());
    } else if ((op == "ArrayFeatureExtractor" || (op == "Gather" && along_columns)) && numbers.size() == 1 &&
               !value.is_made && value.rank == 2) {
      if (!value.column) value.column = numbers[0] < 0 ? numbers[0] + width_of(value.from) : numbers[0];
      if (op == "Gather" && is_single(node.input(1))) value.rank = 1;
    } else if (op == "Split" && along_columns && !value.column &&
               width_of(value.from) == node.output_size()) {
      value.column = output;
    } else {
      value.column.reset();
    }
  }

  std::int64_t width_of(const std::string& input) const {
    return std::ranges::find(result_.given, input, &FileInput::name)->width;
  }

  const onnx::TensorProto* constant_tensor(const std::string& name) const {
    for (const onnx::TensorProto& weight : graph_.initializer())
      if (weight.name() == name) return &weight;
    for (const onnx::NodeProto& node : graph_.node()) {
      if (node.op_type() != "Constant" || node.output_size() != 1 || node.output(0) != name) continue;
      const onnx::AttributeProto* const value = attribute_in(node, "value");
      return value == nullptr ? nullptr : &value->t();
    }
    return nullptr;
  }

  bool is_single(const std::string& name) const {
    const onnx::TensorProto* const tensor = constant_tensor(name);
    return tensor != nullptr && tensor->dims_size() == 0;
  }

  Integers constant(const std::string& name) {
    const onnx::TensorProto* const tensor = constant_tensor(name);
    if (tensor == nullptr || tensor->data_type() == onnx::TensorProto::STRING) return {};
    const Array array =
        tensors_.read(*tensor, fmt::format("tensor '{}'", name)).to(DType::int64).contiguous();
    return {array.as<std::int64_t>().begin(), array.as<std::int64_t>().end()};
  }

  // Texts themselves are numbers only where something reads them.
  void drop_unread_movements() {
    for (const onnx::ValueInfoProto& output : graph_.output()) read_.insert(output.name());
    auto& nodes = *graph_.mutable_node();
    for (int i = nodes.size() - 1; i >= 0; --i) {
      const bool unread =
          std::ranges::none_of(nodes[i].output(), [&](const auto& name) { return read_.contains(name); });
      if (unread && nodes[i].output_size() > 0 && movements_.contains(nodes[i].output(0)))
        nodes.DeleteSubrange(i, 1);
      else
        note_reads(nodes[i]);
    }
  }

  void note_reads(const onnx::NodeProto& node) {
    read_.insert(node.input().begin(), node.input().end());
    for (const onnx::AttributeProto& attribute : node.attribute())
      for (const onnx::NodeProto& inner : attribute.g().node()) note_reads(inner);
  }

  void set_types() {
    for (onnx::ValueInfoProto& value : *graph_.mutable_value_info())
      if (texts_.contains(value.name()))
        value.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
    const auto inputs = graph_.input();
    graph_.clear_input();
    for (const onnx::ValueInfoProto& input : inputs) {
      if (!texts_.contains(input.name()) && !dictionaries_.contains(input.name()))
        *graph_.add_input() = input;
      if (dictionaries_.contains(input.name())) add_columns(input.name());
      if (texts_.contains(input.name())) add_numbers(input);
    }
  }

  void add_columns(const std::string& name) {
    const std::int64_t width = width_of(name);
    if (std::ranges::find(result_.given, name, &FileInput::name)->columns.empty())
      fail(Fault::unsupported,
           "graph input '{}' is a dictionary that no DictVectorizer reads; export the network with tensors "
           "as inputs",
           name);
    add_input(name, onnx::TensorProto::FLOAT, {-1, width});
  }

  void add_numbers(const onnx::ValueInfoProto& input) {
    if (read_.contains(input.name())) {
      onnx::ValueInfoProto& made = *graph_.add_input();
      made = input;
      made.mutable_type()->mutable_tensor_type()->set_elem_type(onnx::TensorProto::INT64);
      inputs_.push_back({.name = input.name(), .from = input.name()});
    }
    for (const WordInput& one : result_.made) {
      if (one.from != input.name()) continue;
      add_input(one.name, onnx::TensorProto::INT64, {-1, one.is_cut() ? -1 : 1});
      inputs_.push_back(one);
    }
  }

  void add_input(const std::string& name, int type, const Shape& shape) {
    onnx::ValueInfoProto& made = *graph_.add_input();
    made.set_name(name);
    auto& tensor = *made.mutable_type()->mutable_tensor_type();
    tensor.set_elem_type(type);
    for (const std::int64_t size : shape) {
      auto& dim = *tensor.mutable_shape()->add_dim();
      if (size > 0) dim.set_dim_value(size);
    }
  }

  TextInputs finished() {
    result_.made = std::move(inputs_);
    return std::move(result_);
  }

  std::string fresh(const std::string& name) {
    std::string made = name;
    for (int i = 2; names_.contains(made) || constants_.contains(made); ++i)
      made = fmt::format("{}_{}", name, i);
    names_.insert(made);
    return made;
  }

  onnx::GraphProto& graph_;
  TensorReader tensors_;
  TextInputs result_;
  std::vector<WordInput> inputs_;
  std::map<std::string, TextValue> texts_;
  std::set<std::string> constants_, dictionaries_, movements_, read_, names_;
};

}  // namespace

std::optional<TextInputs> number_texts(onnx::ModelProto& model, const std::filesystem::path& folder) {
  if (!takes_texts(model.graph())) return std::nullopt;
  sort_nodes(model);
  return TextNumbering(model, folder).run();
}

std::optional<TextInputs> column_inputs(const onnx::ModelProto& model) {
  std::set<std::string> constants;
  for (const onnx::TensorProto& weight : model.graph().initializer()) constants.insert(weight.name());
  TextInputs inputs;
  for (const onnx::ValueInfoProto& input : model.graph().input())
    if (!constants.contains(input.name())) inputs.given.push_back(file_input(input));
  constexpr int most_axes = 2;  // records and columns
  const bool fit = std::ranges::all_of(inputs.given, [](const auto& one) { return one.rank <= most_axes; });
  return fit && inputs.given.size() > 1 ? std::optional(std::move(inputs)) : std::nullopt;
}

std::vector<std::string> notices_of(const TextInputs& texts) {
  std::vector<std::string> notices;
  for (const FileInput& input : texts.given) {
    if (!input.columns.empty())
      notices.push_back(fmt::format("graph input '{}' is a dictionary; its columns are {}", input.name,
                                    support::joined(input.columns)));
    if (input.is_text)
      notices.push_back(
          fmt::format("graph input '{}' takes texts, as whole numbers of {} words ({}): data option "
                      "words=NETWORK makes them",
                      input.name, texts.words.size(), vocabulary_of(texts)));
  }
  return notices;
}

}  // namespace assay::onnx_format

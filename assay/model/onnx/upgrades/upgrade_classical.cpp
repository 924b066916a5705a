// Operators of classical machine learning (ai.onnx.ml) that are arithmetic: what prepares columns in front of
// a network, and linear models.

#include <algorithm>
#include <cmath>

#include <assay/error.h>
#include "assay/model/onnx/proto.h"
#include "assay/model/onnx/upgrades/columns.h"

namespace assay::onnx_format {
namespace {

using Floats = std::vector<float>;

Array row(const Floats& values) { return Array::of<float>({std::ssize(values)}, values); }

ValueId column_input(const Upgrade& u, std::size_t i) {
  if (!u.has_input(i)) fail(Fault::model, "{}: input {} is missing", u.node.describe(), i);
  return u.node.inputs[i];
}

Floats required_reals(const Upgrade& u, const char* attribute) {
  Floats values = u.node.reals(attribute, {});
  if (values.empty()) fail(Fault::model, "{}: attribute '{}' is missing", u.node.describe(), attribute);
  return values;
}

// (x - offset) * scale, a number each or one a column.
void scaler(Upgrade& u) {
  const ValueId x = real_input(u, 0);
  const ValueId offset = u.constant("offset", row(required_reals(u, "offset")));
  const ValueId scale = u.constant("scale", row(required_reals(u, "scale")));
  become(u, "Mul", {u.before("centred", "Sub", {x, offset}), scale});
}

// 1 above the threshold, else 0.
void binarizer(Upgrade& u) {
  const ValueId above =
      u.before("above", "Greater", {real_input(u, 0), u.real("threshold", u.node.real("threshold", 0))});
  become(u, "Cast", {above}, {{"to", std::int64_t{onnx::TensorProto::FLOAT}}});
}

void normalizer(Upgrade& u) {
  const std::string norm = u.node.text("norm", "MAX");
  const ValueId x = real_input(u, 0);
  if (norm == "L1" || norm == "L2")
    return become(u, "LpNormalization", {x},
                  {{"p", std::int64_t{norm == "L1" ? 1 : 2}}, {"axis", std::int64_t{-1}}});
  if (norm != "MAX") fail(Fault::model, "{}: there is no norm '{}'", u.node.describe(), norm);
  const ValueId most = u.before("greatest", "ReduceMax", {x, u.integers("columns", {-1})});
  const ValueId none = u.before("none", "Equal", {most, u.real("zero", 0)});
  become(u, "Div", {x, u.before("divisor", "Where", {none, u.real("one", 1), most})});
}

// Numbers instead of a mark for missing ones, one or one a column.
void imputer(Upgrade& u) {
  if (u.node.has("imputed_value_int64s")) {
    const auto values = u.node.integers("imputed_value_int64s", {});
    const ValueId x = column_input(u, 0);
    const ValueId mark = u.integer("missing", u.node.integer("replaced_value_int64", 0));
    const ValueId missing = u.before("is_missing", "Equal", {x, mark});
    return become(u, "Where", {missing, u.integers("imputed", values), x});
  }
  const ValueId x = real_input(u, 0);
  const float mark = u.node.real("replaced_value_float", 0);
  const ValueId missing = std::isnan(mark) ? u.before("is_missing", "IsNaN", {x})
                                           : u.before("is_missing", "Equal", {x, u.real("missing", mark)});
  become(u, "Where", {missing, u.constant("imputed", row(required_reals(u, "imputed_value_floats"))), x});
}

// A column for each category, along a new axis. Where `zeros` is 0, ONNX Runtime fails at a number that is no
// category; here its columns are NaN.
void one_hot_encoder(Upgrade& u) {
  const auto categories = u.node.integers("cats_int64s", {});
  if (categories.empty())
    fail(Fault::unsupported, "{}: its categories are texts; export the network with whole numbers instead",
         u.node.describe());
  const std::int64_t whole = onnx::TensorProto::INT64;
  const ValueId number = u.before("number", "Cast", {column_input(u, 0)}, {{"to", whole}});
  const ValueId upright = u.before("upright", "Unsqueeze", {number, u.integers("last", {-1})});
  const ValueId equal = u.before("equal", "Equal", {upright, u.integers("categories", categories)});
  const std::int64_t real = onnx::TensorProto::FLOAT;
  if (u.node.integer("zeros", 1) != 0) return become(u, "Cast", {equal}, {{"to", real}});
  const ValueId columns = u.before("columns", "Cast", {equal}, {{"to", real}});
  const ValueId known = u.before("known", "ReduceMax", {columns, u.integers("categories_axis", {-1})});
  become(u, "Div", {columns, known});
  u.graph.remark(
      "a number that is not a category, at which ONNX Runtime fails, gives NaN; trees that read it take a "
      "branch nevertheless",
      u.node.describe());
}

void feature_vectorizer(Upgrade& u) {
  std::vector<ValueId> parts;
  for (std::size_t i = 0; i < u.node.inputs.size(); ++i) parts.push_back(real_input(u, i));
  become(u, "Concat", std::move(parts), {{"axis", std::int64_t{1}}});
}

// Columns of that number.
void feature_extractor(Upgrade& u) {
  const ValueId x = column_input(u, 0);
  const ValueId columns = u.before("columns", "Reshape", {column_input(u, 1), u.integers("flat", {-1})});
  become(u, "Gather", {x, columns}, {{"axis", std::int64_t{-1}}});
}

// x times the rows of coefficients, and intercepts: one result a row.
ValueId linear(Upgrade& u, const ValueId x, std::int64_t rows) {
  const Floats coefficients = required_reals(u, "coefficients");
  Floats intercepts = u.node.reals("intercepts", {});
  if (intercepts.empty()) intercepts.resize(rows);
  if (rows < 1 || std::ssize(intercepts) != rows || std::ssize(coefficients) % rows != 0)
    fail(Fault::model, "{}: {} coefficients and {} intercepts do not make {} results", u.node.describe(),
         coefficients.size(), intercepts.size(), rows);
  const ValueId weights =
      u.constant("coefficients", Array::of<float>({rows, std::ssize(coefficients) / rows}, coefficients));
  return u.before("linear", "Gemm", {x, weights, u.constant("intercepts", row(intercepts))},
                  {{"transB", std::int64_t{1}}});
}

void transform(Upgrade& u, ValueId scores) {
  become_transform(u, scores, u.node.text("post_transform", "NONE"));
}

void linear_regressor(Upgrade& u) {
  const ValueId x = real_input(u, 0);
  transform(u, linear(u, x, u.node.integer("targets", 1)));
}

// (class, scores), or scores alone where classes are texts. One row of coefficients is that of the second of
// two classes.
void linear_classifier(Upgrade& u) {
  const ValueId x = real_input(u, 0);
  const std::int64_t rows = std::max<std::int64_t>(1, std::ssize(u.node.reals("intercepts", {})));
  const auto classes =
      std::max(std::ssize(u.node.integers("classlabels_ints", {})), u.node.integer("texts", 0));
  const ValueId scores = linear(u, x, rows);
  forward_class(u, scores, rows, u.node.integers("classlabels_ints", {}), 0);
  if (rows != 1 || classes != 2) return transform(u, scores);
  // ONNX Runtime leaves both columns of one row as they are, but for LOGISTIC.
  const std::string how = u.node.text("post_transform", "NONE");
  const bool logistic = how == "LOGISTIC", softmax = how.starts_with("SOFTMAX");
  become_transform(u, both_columns(u, scores, !logistic), softmax ? "NONE" : how);
}

// "keys" or "values" of a LabelEncoder; texts do not come here.
Array numbers_of(const Upgrade& u, const std::string& role) {
  if (u.node.has(role + "_int64s")) {
    const auto values = u.node.integers(role + "_int64s", {});
    return Array::of<std::int64_t>({std::ssize(values)}, values);
  }
  if (u.node.has(role + "_floats")) return row(u.node.reals(role + "_floats", {}));
  const auto found = u.node.attributes.find(role + "_tensor");
  const Array* const array = found == u.node.attributes.end() ? nullptr : std::get_if<Array>(&found->second);
  if (array == nullptr || array->rank() != 1)
    fail(Fault::model, "{}: attribute '{}_tensor' is not a list", u.node.describe(), role);
  return *array;
}

// What stands for numbers that have no key.
ValueId other_label(Upgrade& u, DType type) {
  const auto found = u.node.attributes.find("default_tensor");
  if (found != u.node.attributes.end()) {
    const Array* const array = std::get_if<Array>(&found->second);
    if (array == nullptr || array->count() != 1)
      fail(Fault::model, "{}: attribute 'default_tensor' is not a number", u.node.describe());
    return u.constant("other", array->to(type).reshape({}));
  }
  return is_real(type) ? u.real("other", u.node.real("default_float", -0.0F))
                       : u.integer("other", u.node.integer("default_int64", -1));
}

// A number for each number.
void label_encoder(Upgrade& u) {
  const Array keys = numbers_of(u, "keys"), values = numbers_of(u, "values");
  if (keys.count() == 0 || keys.count() != values.count())
    fail(Fault::model, "{}: {} keys and {} values", u.node.describe(), keys.count(), values.count());
  if (is_real(keys.dtype()) && std::ranges::any_of(keys.as<float>(), [](float k) { return std::isnan(k); }))
    fail(Fault::unsupported, "{}: NaN as a key is not supported; replace it by an Imputer",
         u.node.describe());
  const ValueId x = is_real(keys.dtype()) ? real_input(u, 0) : column_input(u, 0);
  const ValueId upright = u.before("upright", "Unsqueeze", {x, u.integers("last", {-1})});
  const ValueId equal = u.before("equal", "Equal", {upright, u.constant("keys", keys)});
  const ValueId ones = u.before("ones", "Cast", {equal}, {{"to", std::int64_t{onnx::TensorProto::FLOAT}}});
  const std::map<std::string, Attribute> last{{"axis", std::int64_t{-1}}, {"keepdims", std::int64_t{0}}};
  const ValueId place = u.before("place", "ArgMax", {ones}, last);
  const ValueId known =
      u.before("any", "ReduceMax", {ones, u.integers("keys_axis", {-1})}, {{"keepdims", std::int64_t{0}}});
  const ValueId is_known = u.before("known", "Greater", {known, u.real("none", 0)});
  const ValueId found = u.before("found", "Gather", {u.constant("values", values), place});
  become(u, "Where", {is_known, found, other_label(u, values.dtype())});
}

// [N], of scores [N, columns].
ValueId named_class(Upgrade& u, ValueId scores, std::int64_t columns, const std::vector<std::int64_t>& labels,
                    float threshold) {
  if (columns == 1) {
    const bool both = labels.size() == 2;
    const ValueId above = u.before("positive", "Greater", {scores, u.real("threshold", threshold)});
    const ValueId label = u.before("label", "Where",
                                   {above, u.integer("one_label", both ? labels[1] : 1),
                                    u.integer("other_label", both ? labels[0] : 0)});
    return u.before("label_of_record", "Reshape", {label, u.integers("one_axis", {-1})});
  }
  const ValueId position =
      u.before("greatest", "ArgMax", {scores}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}});
  if (labels.empty()) return position;
  if (std::ssize(labels) < columns)
    fail(Fault::model, "{}: {} class labels for {} scores", u.node.describe(), labels.size(), columns);
  return u.before("label", "Gather", {u.integers("labels", labels), position});
}

struct ClassicalRule {
  std::string_view op;
  void (*apply)(Upgrade&);
};

constexpr ClassicalRule classical_rules[] = {
    {"ArrayFeatureExtractor", feature_extractor},
    {"Binarizer", binarizer},
    {"FeatureVectorizer", feature_vectorizer},
    {"Imputer", imputer},
    {"LabelEncoder", label_encoder},
    {"LinearClassifier", linear_classifier},
    {"LinearRegressor", linear_regressor},
    {"Normalizer", normalizer},
    {"OneHotEncoder", one_hot_encoder},
    {"SVMClassifier", vector_classifier},
    {"SVMRegressor", vector_regressor},
    {"Scaler", scaler},
    {"TreeEnsemble", tree_ensemble},
    {"TreeEnsembleClassifier", tree_classifier},
    {"TreeEnsembleRegressor", tree_regressor},
};

const ClassicalRule* classical_rule(std::string_view op) {
  const auto found = std::ranges::find(classical_rules, op, &ClassicalRule::op);
  return found == std::end(classical_rules) ? nullptr : found;
}

}  // namespace

ValueId real_input(Upgrade& u, std::size_t i) {
  const ValueId x = column_input(u, i);
  const int type = u.graph.element_type(x).value_or(onnx::TensorProto::FLOAT);
  if (held_as(type, u.node.describe()) == DType::float32) return x;
  return u.before("real", "Cast", {x}, {{"to", std::int64_t{onnx::TensorProto::FLOAT}}});
}

void become(Upgrade& u, std::string op, std::vector<ValueId> inputs,
            std::map<std::string, Attribute> attributes) {
  u.node.op = std::move(op);
  u.node.inputs = std::move(inputs);
  u.node.attributes = std::move(attributes);
}

void become_transform(Upgrade& u, ValueId scores, const std::string& how) {
  if (how == "NONE") return become(u, "Identity", {scores});
  if (how == "LOGISTIC") return become(u, "Sigmoid", {scores});
  if (how == "SOFTMAX") return become(u, "Softmax", {scores}, {{"axis", std::int64_t{-1}}});
  fail(Fault::unsupported, "{}: post_transform {} is not supported; export with NONE, LOGISTIC or SOFTMAX",
       u.node.describe(), how);
}

ValueId both_columns(Upgrade& u, ValueId x, bool shares) {
  const ValueId first =
      shares ? u.before("first", "Sub", {u.real("one", 1), x}) : u.before("first", "Neg", {x});
  return u.before("both", "Concat", {first, x}, {{"axis", std::int64_t{1}}});
}

void forward_class(Upgrade& u, ValueId scores, std::int64_t columns, const std::vector<std::int64_t>& labels,
                   float threshold) {
  if (u.node.outputs.size() != 2) return;
  if (u.node.outputs[0] != no_value) u.forward(0, named_class(u, scores, columns, labels, threshold));
  u.node.outputs.erase(u.node.outputs.begin());
}

void upgrade_classical(Upgrade& upgrade) {
  const std::string& op = upgrade.node.op;
  if (!op.starts_with(classical_domain)) return;
  if (const ClassicalRule* rule = classical_rule(std::string_view(op).substr(classical_domain.size())))
    rule->apply(upgrade);
}

bool is_arithmetic_of_columns(std::string_view op) { return classical_rule(op) != nullptr; }

}  // namespace assay::onnx_format

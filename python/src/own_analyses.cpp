// Criteria, clusterers and hypotheses written in Python, as entries of the catalogues.

#include <assay/extend/criteria.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include <assay/extend/clustering.h>
#include <assay/extend/hypothesis.h>
#include "python/src/bindings.h"
#include "python/src/own.h"

namespace assay::python {
namespace {

using nlohmann::json;

// Never destroyed: the interpreter is gone when the library's statics end. Emptied before.
using Registry = std::map<std::pair<std::string, std::string>, nb::object>;
Registry& registry() {
  static auto& all = *new Registry();
  return all;
}

// Of what json.loads() gives. Value by value, as its text cannot hold a NaN or an infinity.
json value_of(const nb::handle& object) {
  if (object.is_none()) return nullptr;
  if (nb::isinstance<nb::bool_>(object)) return taken<bool>(object);
  if (nb::isinstance<nb::float_>(object)) return taken<double>(object);
  if (nb::isinstance<nb::str>(object)) return taken<std::string>(object);
  if (nb::isinstance<nb::int_>(object)) {
    if (object < nb::int_(0)) return taken<std::int64_t>(object);
    return taken<std::uint64_t>(object);
  }
  if (nb::isinstance<nb::list>(object)) {
    json list = json::array();
    for (const nb::handle item : nb::borrow<nb::list>(object)) list.push_back(value_of(item));
    return list;
  }
  json entries = json::object();
  for (const auto& [name, item] : nb::borrow<nb::dict>(object))
    entries[taken<std::string>(name)] = value_of(item);
  return entries;
}
json json_of(const std::string& criterion, const nb::object& object) {
  const nb::module_ text = nb::module_::import_("json");
  const nb::object plain =
      text.attr("loads")(text.attr("dumps")(object));  // tuples are lists, keys are texts
  try {
    return value_of(plain);
  } catch (const Error&) {
    fail(Fault::usage,
         "criterion {}: save() gives a whole number of more than 64 bits, or a text that is not UTF-8; give "
         "such numbers as texts",
         criterion);
  }
}
nb::object object_of(const json& value) {
  if (value.is_null()) return nb::none();
  if (value.is_boolean()) return nb::cast(value.get<bool>());
  if (value.is_number_float()) return nb::cast(value.get<double>());
  if (value.is_number_unsigned()) return nb::cast(value.get<std::uint64_t>());
  if (value.is_number_integer()) return nb::cast(value.get<std::int64_t>());
  if (value.is_string()) return nb::cast(value.get_ref<const std::string&>());
  if (value.is_array()) {
    nb::list list;
    for (const json& item : value) list.append(object_of(item));
    return list;
  }
  nb::dict entries;
  for (const auto& [name, item] : value.items()) entries[nb::cast(name)] = object_of(item);
  return entries;
}

// --- criteria

// Of a figure as _own._figure() makes it: a measure, or counts of any size as texts with their share.
coverage::Coverage coverage_from(const std::string& layer, const nb::handle& value) {
  if (nb::isinstance<nb::tuple>(value)) {
    const auto [covered, coverable, share] = taken<std::tuple<std::string, std::string, double>>(value);
    return {layer, covered, coverable, share, covered, coverable, share, {}};
  }
  coverage::Coverage coverage;
  coverage.layer = layer;
  coverage.value = taken<double>(value);
  return coverage;
}

class OwnCriterion final : public coverage::Criterion {
 public:
  OwnCriterion(std::string name, PythonObject self, std::vector<std::size_t> layers)
      : name_(std::move(name)), self_(std::move(self)), layers_(std::move(layers)) {}

  void observe(const coverage::ActivationBatch& batch) override {
    in_python([&] {
      nb::list layers;
      for (const std::size_t l : layers_) layers.append(matrix(batch.layers[l]));
      const auto whole = [](std::span<const std::int64_t> values) {
        return numpy_of(std::vector<std::int64_t>(values.begin(), values.end()));
      };
      nb::dict facts;
      facts["indices"] = numpy_of(std::vector<std::int64_t>(batch.indices.begin(), batch.indices.end()));
      facts["layers"] = layers;
      facts["predicted"] = whole(batch.predicted);
      facts["labels"] = whole(batch.labels);
      self_.get().attr("observe")(batch_type()(**facts));
    });
  }

  void merge(const coverage::Criterion& other) override {
    const auto* own = dynamic_cast<const OwnCriterion*>(&other);
    if (own == nullptr || own->name_ != name_)
      fail(Fault::mismatch, "criterion {} cannot take up another one", name_);
    in_python([&] { self_.get().attr("merge")(own->self_.get()); });
  }

  std::vector<coverage::Coverage> result() const override {
    return in_python([&] {
      std::vector<coverage::Coverage> all;
      for (const auto& [layer, value] : taken<nb::dict>(self_.get().attr("result")()))
        all.push_back(coverage_from(taken<std::string>(layer), value));
      return all;
    });
  }

  json save() const override {
    return in_python([&] { return json_of(name_, self_.get().attr("save")()); });
  }
  void load(const json& state) override {
    in_python([&] { self_.get().attr("load")(object_of(state)); });
  }

 private:
  static nb::object batch_type() { return nb::module_::import_("assay._own").attr("ActivationBatch"); }
  static nb::object matrix(const Activations& layer) {
    return numpy_of(layer.values).attr("reshape")(layer.rows, layer.columns);
  }

  std::string name_;
  PythonObject self_;
  std::vector<std::size_t> layers_;
};

nb::dict setup_of(const coverage::CriterionSetup& setup, const std::vector<SpecOption>& declared) {
  nb::list layers;
  for (const std::size_t l : setup.layers) {
    const coverage::LayerStatistics& statistics = setup.profile.statistics[l];
    nb::dict layer;
    layer["name"] = statistics.layer;
    layer["op"] = statistics.op;
    layer["low"] = numpy_of(statistics.low);
    layer["high"] = numpy_of(statistics.high);
    layer["mean"] = numpy_of(statistics.mean);
    layer["deviation"] = numpy_of(statistics.deviation);
    layers.append(nb::module_::import_("assay._own").attr("LayerProfile")(**layer));
  }
  nb::dict all;
  all["layers"] = layers;
  all["options"] = options_of(setup.options, declared);
  return all;
}

void register_criterion(const nb::dict& entry, const nb::object& factory) {
  const Entry given(entry);
  const auto make = [name = given.name](const coverage::CriterionSetup& setup) {
    return in_python([&]() -> std::unique_ptr<coverage::Criterion> {
      const auto& declared = coverage::criteria().find(name).options;
      const nb::object self = registered("criterion", name)(**setup_of(setup, declared));
      return std::make_unique<OwnCriterion>(name, PythonObject(self), setup.layers);
    });
  };
  coverage::CriterionInfo info;
  info.name = given.name;
  info.summary = given.summary;
  info.definition = given.definition;
  info.options = given.options;
  info.make = make;
  add_or_replace(coverage::criteria(), std::move(info), given.known);
  remember("criterion", given.name, factory);
}

// --- clusterers

class OwnClusterer final : public clustering::Clusterer {
 public:
  OwnClusterer(std::string name, const clustering::ClusterOptions& options)
      : name_(std::move(name)), options_(options) {}

  clustering::Clustering cluster(std::vector<double> values) const override {
    std::ranges::sort(values);
    const std::vector<double> sorted = values;
    const std::vector<double> centroids = in_python([&] {
      nb::dict limits;
      limits["min_k"] = options_.min_k;
      limits["max_k"] = options_.max_k;
      return taken<std::vector<double>>(
          registered("clusterer", name_)(numpy_of(std::move(values)), **limits));
    });
    return with(sorted, centroids);
  }
  std::string describe() const override { return name_ + ", written in Python"; }

 private:
  clustering::Clustering with(const std::vector<double>& sorted, std::vector<double> centroids) const {
    std::ranges::sort(centroids);
    const bool sound = !centroids.empty() &&
                       std::ranges::all_of(centroids, [](double c) { return std::isfinite(c); }) &&
                       std::ranges::adjacent_find(centroids) == centroids.end();
    if (!sound) fail(Fault::usage, "clusterer {}: centroids are one or more different finite numbers", name_);
    clustering::Clustering clustering;
    clustering.centroids = std::move(centroids);
    clustering.sizes.assign(clustering.centroids.size(), 0);
    for (const double value : sorted) {
      const std::size_t nearest = clustering.nearest(value);
      ++clustering.sizes[nearest];
      const double distance = value - clustering.centroids[nearest];
      clustering.within += distance * distance;
    }
    clustering.silhouette =
        clustering.sizes.size() < 2 ? 0 : clustering::silhouette_1d(sorted, clustering.sizes);
    return clustering;
  }

  std::string name_;
  clustering::ClusterOptions options_;
};

void register_clusterer(const nb::dict& entry, const nb::object& function) {
  const Entry given(entry);
  clustering::ClustererInfo info;
  info.name = given.name;
  info.summary = given.summary;
  info.make = [name = given.name](const clustering::ClusterOptions& options) {
    return std::make_unique<OwnClusterer>(name, options);
  };
  add_or_replace(clustering::clusterers(), std::move(info), given.known);
  remember("clusterer", given.name, function);
}

// --- hypotheses

class OwnAnnotator final : public inspection::Annotator {
 public:
  OwnAnnotator(std::string name, PythonObject self) : self_(std::move(self)), name_(std::move(name)) {
    in_python([&] {
      for (const nb::handle hypothesis : self_.get().attr("hypotheses"))
        declared_.push_back(described(hypothesis));
    });
    for (const inspection::Hypothesis& one : declared_) {
      hypotheses_.push_back(one);
      for (const std::string& member : one.classes) hypotheses_.push_back({one.name + ":" + member});
    }
    if (hypotheses_.empty()) fail(Fault::usage, "hypothesis {}: there are no hypotheses in it", name_);
  }

  const std::vector<inspection::Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return {}; }  // code may change between two runs

  inspection::Behaviours annotate(const inspection::RecordBlock& records) const override {
    return in_python([&] {
      nb::list texts;
      for (const inspection::RecordText& text : records.texts) texts.append(text.text);
      nb::dict block;
      block["inputs"] = read_only_numpy_of(records.batch.inputs);
      block["labels"] = numpy_of(records.batch.labels);
      block["indices"] =
          numpy_of(std::vector<std::int64_t>(records.batch.indices.begin(), records.batch.indices.end()));
      block["texts"] = texts;
      const nb::object found =
          self_.get().attr("annotate")(nb::module_::import_("assay._own").attr("RecordBlock")(**block));
      nb::list classes;
      for (const inspection::Hypothesis& one : declared_) classes.append(one.classes);
      const nb::object coded =
          nb::module_::import_("assay._own").attr("behaviours_of")(name_, classes, found, records.size());
      return behaviours(tensor_of(coded).contiguous());
    });
  }

 private:
  // Of values [records, hypotheses, positions...].
  static inspection::Behaviours behaviours(const Array& values) {
    inspection::Behaviours all;
    all.positions.assign(values.shape().begin() + 2, values.shape().end());
    all.values.assign(values.elements<float>(), values.elements<float>() + values.count());
    return all;
  }

  inspection::Hypothesis described(const nb::handle& given) const {
    if (nb::isinstance<nb::str>(given)) return {taken<std::string>(given)};
    static const std::map<std::string, inspection::BehaviourKind> kinds{
        {"binary", inspection::BehaviourKind::binary},
        {"categorical", inspection::BehaviourKind::categorical},
        {"numeric", inspection::BehaviourKind::numeric}};
    const nb::tuple parts(given);
    const std::string word = parts.size() < 2 ? "" : taken<std::string>(parts[1]);
    const auto it = kinds.find(word);
    if (it == kinds.end())
      fail(Fault::usage, "hypothesis {}: a kind is binary, numeric or categorical, not '{}'", name_, word);
    const bool categorical = it->second == inspection::BehaviourKind::categorical;
    inspection::Hypothesis hypothesis{taken<std::string>(parts[0]), it->second};
    if (parts.size() == 3) hypothesis.classes = taken<std::vector<std::string>>(parts[2]);
    const std::set<std::string> different(hypothesis.classes.begin(), hypothesis.classes.end());
    if (parts.size() > 3 || different.size() != hypothesis.classes.size() ||
        categorical != !hypothesis.classes.empty())
      fail(
          Fault::usage,
          "hypothesis {}: '{}' is a name, (name, \"binary\"), (name, \"numeric\") or (name, \"categorical\", "
          "classes), the classes different texts",
          name_, hypothesis.name);
    return hypothesis;
  }

  PythonObject self_;
  std::string name_;
  // As the class has them, and with the binary ones of categories.
  std::vector<inspection::Hypothesis> declared_, hypotheses_;
};

void register_hypothesis(const nb::dict& entry, const nb::object& factory) {
  const Entry given(entry);
  inspection::AnnotatorInfo info;
  info.name = given.name;
  info.summary = given.summary;
  info.definition = given.definition;
  info.options = given.options;
  info.make = [name = given.name](const inspection::AnnotatorSetup& setup) {
    return std::make_unique<OwnAnnotator>(
        name, in_python([&] {
          const auto& declared = inspection::annotators().find(name).options;
          return PythonObject(registered("hypothesis", name)(**options_of(setup.options, declared)));
        }));
  };
  add_or_replace(inspection::annotators(), std::move(info), given.known);
  remember("hypothesis", given.name, factory);
}

}  // namespace

nb::object registered(const std::string& kind, const std::string& name) {
  const auto it = registry().find({kind, name});
  if (it == registry().end()) fail(Fault::usage, "the {} {} is gone, as Python ends", kind, name);
  return it->second;
}
void remember(const std::string& kind, const std::string& name, const nb::object& object) {
  registry()[{kind, name}] = object;
}

Entry::Entry(const nb::dict& given)
    : name(taken<std::string>(given["name"])),
      summary(taken<std::string>(given["summary"])),
      definition(taken<std::string>(given["definition"])) {
  for (const auto& [option, fallback] : taken<nb::dict>(given["options"]))
    options.push_back({taken<std::string>(option), text_of(fallback), ""});
  known = registry().contains({taken<std::string>(given["kind"]), name});
}

nb::dict options_of(const SpecOptions& options, const std::vector<SpecOption>& declared) {
  nb::dict all;
  for (const SpecOption& option : declared) all[nb::cast(option.name)] = options.text(option.name);
  return all;
}

void forget_registered() { const Registry ended = std::exchange(registry(), {}); }

void bind_own_analyses(nb::module_& module) {
  module.def("register_criterion", &register_criterion);
  module.def("register_clusterer", &register_clusterer);
  module.def("register_hypothesis", &register_hypothesis);
}

}  // namespace assay::python

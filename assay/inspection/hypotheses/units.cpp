// Activations of another network's units, so that two networks can be compared unit by unit.

#include <algorithm>
#include <charconv>
#include <mutex>

#include <assay/error.h>
#include <assay/extend/hypothesis.h>
#include <assay/model.h>
#include <assay/session.h>
#include "assay/support/files/hash.h"

namespace assay::inspection {
namespace {

class Units final : public Annotator {
 public:
  explicit Units(const AnnotatorSetup& setup) {
    const std::string& model = setup.options.text("model");
    if (model.empty())
      fail(Fault::usage, "hypothesis 'units' needs a network: units[model=other.onnx,layer=fc1]");
    SessionOptions options = setup.session;
    options.record_shape = {};
    options.record_shapes = {};
    set_record_shapes(options, setup.dataset->facts());
    session_ = std::make_unique<Session>(read_model(model), options);
    const std::string& selector = setup.options.text("layer");
    layer_ = selector.empty() ? session_->penultimate_layer() : session_->layer(selector);
    version_ = session_->graph().hash();
    const std::string& given = setup.options.text("name");
    const std::string name = given.empty() ? layer_.name : given;
    choose(setup.options.words("units"));
    for (const std::size_t unit : units_)
      hypotheses_.push_back({fmt::format("{}:{}", name, unit), BehaviourKind::numeric});
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return version_; }

  Behaviours annotate(const RecordBlock& records) const override {
    const Activations activations = observe(records.batch);
    const std::size_t count = activations.columns / static_cast<std::size_t>(layer_.neurons);
    Behaviours behaviours{positions(count), {}};
    behaviours.values.reserve(records.size() * units_.size() * count);
    for (std::size_t r = 0; r < records.size(); ++r) {
      const std::span<const float> row = activations.row(r);
      for (const std::size_t unit : units_)
        behaviours.values.insert(behaviours.values.end(), row.begin() + unit * count,
                                 row.begin() + (unit + 1) * count);
    }
    return behaviours;
  }

 private:
  void choose(const std::vector<std::string>& wanted) {
    const std::size_t neurons = layer_.neurons;
    for (const std::string& text : wanted) {
      std::size_t unit = 0;
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), unit);
      if (error != std::errc() || end != text.data() + text.size() || unit >= neurons)
        fail(Fault::usage, "hypothesis 'units': layer '{}' has units 0 to {}, not '{}'", layer_.name,
             neurons - 1, text);
      units_.push_back(unit);
    }
    for (std::size_t unit = 0; wanted.empty() && unit < neurons; ++unit) units_.push_back(unit);
  }

  // A session runs one thing at a time.
  Activations observe(const Batch& batch) const {
    const std::lock_guard lock(mutex_);
    const Tap tap{&layer_, Reduction::every_position};
    return std::move(session_->observe(session_->bind(batch), {&tap, 1}, {}).layers[0]);
  }

  // The axes that are neither the batch nor the neurons, in their order.
  Shape positions(std::size_t count) const {
    Shape shape;
    for (std::size_t i = 0; i < layer_.shape.size() && layer_.batch_multiple == 1; ++i) {
      const int axis = static_cast<int>(i) + (static_cast<int>(i) >= layer_.batch_axis ? 1 : 0);
      if (std::ranges::find(layer_.neuron_axes, axis) == layer_.neuron_axes.end())
        shape.push_back(layer_.shape[i]);
    }
    if (static_cast<std::size_t>(element_count(shape)) != count) shape = {static_cast<std::int64_t>(count)};
    if (shape.size() > 2) std::erase(shape, 1);
    if (shape.size() > 2) shape = {static_cast<std::int64_t>(count)};
    if (count == 1) shape = {};
    return shape;
  }

  mutable std::mutex mutex_;  // guards session_
  std::unique_ptr<Session> session_;
  Layer layer_;
  std::vector<std::size_t> units_;
  std::string version_;
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo units_annotator() {
  return {
      .name = "units",
      .summary = "activations of another network's units, to compare networks unit by unit",
      .definition =
          "'LAYER:UNIT' is the activation of the unit, numeric, at every position where its layer has any: "
          "symbols of a sequence, pixels of a map",
      .limits =
          "the other network takes the same records. Networks are compared where both have positions, or "
          "where "
          "these can be aligned",
      .paper = "Li et al., Convergent Learning, ICLR 2016; Sellam et al., SIGMOD 2019",
      .options = {{"model", "", "the other network: .onnx, .h5, .keras"},
                  {"layer", "", "name or number of its layer; else the one before the last"},
                  {"units", "", "numbers joined by +; else all"},
                  {"name", "", "what results call it, else the name of the layer"}},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<Units>(setup);
      }};
}

}  // namespace assay::inspection

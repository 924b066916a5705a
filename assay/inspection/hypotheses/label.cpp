// The class of the whole record, and one binary hypothesis for each class.

#include <assay/error.h>
#include <assay/extend/hypothesis.h>

namespace assay::inspection {
namespace {

class Label final : public Annotator {
 public:
  explicit Label(const DatasetPtr& dataset) {
    if (!dataset->has_labels())
      fail(Fault::mismatch, "hypothesis 'label': {} has no class for each record{}", dataset->describe(),
           dataset->target_width() > 0 ? "; 'items' is what it has of pixels, tokens, labels and numbers"
                                       : "");
    hypotheses_.push_back({"label", BehaviourKind::categorical, dataset->class_names()});
    for (const std::string& name : dataset->class_names())
      hypotheses_.push_back({"label:" + name, BehaviourKind::binary});
  }

  const std::vector<Hypothesis>& hypotheses() const override { return hypotheses_; }
  std::string version() const override { return "1"; }

  Behaviours annotate(const RecordBlock& records) const override {
    Behaviours behaviours;
    behaviours.values.reserve(records.size() * hypotheses_.size());
    for (const std::int64_t label : records.batch.labels) {
      behaviours.values.push_back(static_cast<float>(label));
      for (std::size_t c = 0; c + 1 < hypotheses_.size(); ++c)
        behaviours.values.push_back(label == static_cast<std::int64_t>(c) ? 1.0F : 0.0F);
    }
    return behaviours;
  }

 private:
  std::vector<Hypothesis> hypotheses_;
};

}  // namespace

AnnotatorInfo label_annotator() {
  return {
      .name = "label",
      .summary = "the class of the record, and for each class whether it is that one",
      .definition = "one value a record: 'label' is the class, 'label:CLASS' is 1 for records of that class",
      .limits = "labels are taken as they are, right or wrong",
      .paper = "Sellam et al., SIGMOD 2019",
      .options = {},
      .make = [](const AnnotatorSetup& setup) -> std::unique_ptr<Annotator> {
        return std::make_unique<Label>(setup.dataset);
      }};
}

}  // namespace assay::inspection

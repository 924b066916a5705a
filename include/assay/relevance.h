#pragma once

// Attribution: how much of a network's decision each value carries. Layer-wise relevance propagation with its
// rules and composites, DeepLIFT rescale, methods that use gradients or take parts away behind one interface;
// and importance analysis, which sums it over a data set. Formulas and papers: docs/algorithms/relevance.md.

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <assay/dataset.h>
#include <assay/evaluate.h>
#include <assay/extend/catalogue.h>
#include <assay/extend/spec.h>
#include <assay/progress.h>
#include <assay/session.h>

namespace assay::task {
class Task;
}

namespace assay::relevance {

// What to explain for each record of a batch: the score of one class, before functions that keep the order of
// scores (a softmax, a sigmoid, their logarithm). With one output z, class 1 has the score z/2 and class 0
// the score -z/2, as in a network with these two outputs.
struct Target {
  // Per record; `no_class` leaves a record out (its relevance is 0). Empty: the class that is named.
  static constexpr std::int64_t no_class = -1;
  std::vector<std::int64_t> classes;
  // In place of classes, where AttributionOptions::outputs: by record a weight for each element of the
  // decision value. The sum of weight * (element - threshold) is explained, such as the scores of many items;
  // no weights leave a record out.
  std::vector<std::vector<float>> weights = {};
  float threshold = 0;
};

// Relevance of one batch.
struct Relevance {
  Tensors values;             // relevance with the shape of the value, for every value requested
  std::vector<double> start;  // relevance put in at the output, per record
};

// Immutable and reusable over batches.
class Attribution {
 public:
  virtual ~Attribution() = default;
  // Relevance of every value in `wanted` for one batch bound by Session::bind. Values that are in `given` are
  // not computed again. A value that no relevance reaches gets zeros. REQUIRES `wanted` within
  // AttributionOptions::wanted.
  virtual Relevance attribute(const Tensors& given, const Target& target,
                              std::span<const ValueId> wanted) const = 0;
  // The values that attribute() reads from a forward pass for `wanted`: a caller that runs the network anyway
  // requests them as well and passes them on in `given`.
  virtual std::vector<ValueId> reads(std::span<const ValueId> wanted) const = 0;
  // Human-readable definition with its options, for result documents.
  virtual std::string describe() const = 0;
};

struct AttributionOptions {
  double epsilon = 1e-6;     // LRP-epsilon's stabiliser
  bool bias_absorbs = true;  // false: relevance of biases is redistributed onto the inputs
  // Whether elements of the decision value are explained unchanged, numbered like classes: for regression.
  // Otherwise scores of classes.
  bool outputs = false;
  double low = 0, high = 1;  // z^B box when the data declare none
  std::optional<ValidRange> range = {};
  std::vector<std::pair<std::string, std::string>> layer_rules =
      {};  // (node name, rule), before the composite's choice
  std::optional<Array> baseline =
      {};  // DeepLIFT and integrated gradients: reference record, zeros when absent
  // The values that will be requested from attribute(), so that nodes before them need no rule. Empty:
  // everything.
  std::vector<ValueId> wanted = {};
};

struct AttributionInfo {
  std::string name, summary, paper;
  // The session must outlive the result.
  std::function<std::unique_ptr<Attribution>(const Session&, const AttributionOptions&, const SpecOptions&)>
      make;
  bool has_rules = true;                 // heeds epsilon, bias_absorbs and layer_rules of AttributionOptions
  std::vector<SpecOption> options = {};  // of this method alone: occlusion[patch=8]
};
// Composites of rules ("epsilon", "epsilon-plus", "epsilon-gamma-box", ...) and
// other methods.
Catalogue<AttributionInfo>& attributions();
// The entry that a method's name with its options, as "occlusion[patch=8]", belongs to.
const AttributionInfo& attribution_named(const std::string& method);
// Gradient of what is explained with respect to values, each in the value's shape. `outputs`: as
// AttributionOptions has it. Throws Error{usage} for classes that the network does not have.
Tensors gradients_of(const Session& session, const Tensors& given, const Target& target,
                     std::span<const ValueId> with_respect_to, bool outputs = false);
// A method with its options. Throws Error{usage} for unknown names (with the nearest), Error{unsupported}
// naming the first node that has no rule in this composite, before anything runs. The session must outlive
// the result.
std::unique_ptr<Attribution> make_attribution(const std::string& method, const Session& session,
                                              const AttributionOptions& options = {});
// Whether LRP gives this layer relevance: it is on a path that carries some, and every node from it to the
// decision has a rule. For the model table.
bool carries_relevance(const Session& session, const Layer& layer);

// Importance analysis (Gerasimou et al., ICSE 2020, section 3.1): which neurons of a layer decide.
struct ImportanceOptions {
  std::string method = "epsilon";  // an attribution
  AttributionOptions attribution = {};
  bool normalised = false;  // divide each record's relevance by its decision value before summing
  bool absolute = false;    // sum absolute values (signed sums can cancel)
  std::optional<std::int64_t> only_class = {};
  std::size_t batch = 0;
  // What decides where records have many items: explained is the sum of the scores of the items that a
  // record's network decides correctly (of `only_class` alone, where it is given), of yes or no half the
  // distance from the threshold.
  std::shared_ptr<const task::Task> task = {};
};

// Relevance of one layer's neurons summed over the correctly classified records (all records for regression,
// those with items that are decided correctly for tasks of items).
struct LayerImportance {
  Layer layer;
  std::vector<double> relevance;  // [neurons], the ranking criterion (signed or absolute as asked)
  std::vector<double> absolute;   // [neurons], always the absolute sums
  std::vector<std::vector<double>> by_class;  // [classes][neurons], same criterion as `relevance`
  double total_in = 0,
         total_here = 0;  // relevance put in at the output, and arriving at this layer (conservation)
  // Neurons by descending relevance, ties to the lower index.
  std::vector<std::size_t> ranking() const;
  // Smallest m whose top neurons hold `share` of the absolute sum, at most `cap`.
  std::size_t smallest_m(double share, std::size_t cap) const;
};

struct Importance {
  std::vector<LayerImportance> layers;
  std::size_t records = 0, used = 0;  // walked; correctly classified and finite
  Evaluation evaluation;
};

Importance analyse_importance(const Session& session, DatasetPtr training, std::span<const Layer> layers,
                              const ImportanceOptions& options, Progress& progress);

}  // namespace assay::relevance

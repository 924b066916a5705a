#include <assay/relevance.h>

#include <assay/array_math.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include <assay/error.h>
#include "assay/relevance/composite.h"
#include "assay/relevance/dependence.h"
#include "assay/relevance/lrp.h"
#include "assay/relevance/methods.h"
#include "assay/relevance/paths.h"
#include "assay/relevance/reach.h"
#include "assay/support/ascii.h"

namespace assay::relevance {

// Methods other than composites, one line for each: NAME_method() is defined in the file of that method.
#define ASSAY_METHODS(X)  \
  X(deeplift)             \
  X(integrated_gradients) \
  X(gradient_x_input)     \
  X(saliency)             \
  X(smoothgrad)           \
  X(grad_cam)             \
  X(occlusion)            \
  X(kernel_shap)

#define DECLARE(name) AttributionInfo name##_method();
ASSAY_METHODS(DECLARE)
#undef DECLARE
#define LIST(name) name##_method,

namespace {

AttributionInfo info_of(const Composite& composite) {
  return {std::string(composite.name),
          std::string(composite.summary),
          std::string(composite.paper),
          [&composite](const Session& session, const AttributionOptions& options, const SpecOptions& own) {
            static const std::vector<std::string> ways{"share", "first"};
            Composite chosen = composite;
            chosen.maxima_share = own.word("ties", ways) == ways[0];
            return std::make_unique<Lrp>(chosen, session, options);
          },
          true,
          {{"ties", "share", "equal maxima of a pool share; first: the first takes all, as in PyTorch"}}};
}

// As other tools call them.
void add_short_names(std::vector<AttributionInfo>& all) {
  for (const auto& [name, meant] : {std::pair("lrp", "epsilon"), std::pair("ig", "integrated-gradients"),
                                    std::pair("gradcam", "grad-cam")}) {
    AttributionInfo info = *std::ranges::find(all, meant, &AttributionInfo::name);
    info.summary = fmt::format("the same as {}", meant);
    info.name = name;
    all.push_back(std::move(info));
  }
}

std::vector<AttributionInfo> built_in() {
  std::vector<AttributionInfo> all;
  for (const Composite& composite : composites()) all.push_back(info_of(composite));
  for (AttributionInfo (*method)() : {ASSAY_METHODS(LIST)}) all.push_back(method());
  add_short_names(all);
  return all;
}
#undef LIST

// For networks that run in groups of records: what goes back through their nodes is as many records as well.
class InGroups final : public Attribution {
 public:
  InGroups(const Session& session, std::unique_ptr<Attribution> of_group)
      : session_(session), of_group_(std::move(of_group)) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    for (const ValueId id : wanted) require_records(id);
    const Tensors inputs = inputs_of(session_, given);
    const std::int64_t group = session_.group();
    std::int64_t records = 0;
    for (const auto& [id, tensor] : inputs) {
      if (const int axis = axis_of(id); axis >= 0) records = std::max(records, tensor.size(axis));
    }
    if (const auto targets = std::max(std::ssize(target.classes), std::ssize(target.weights));
        targets != 0 && targets != records)
      fail(Fault::usage, "{} targets are given for {} records", targets, records);
    Relevance result;
    std::map<ValueId, std::vector<Array>> pieces;
    for (std::int64_t begin = 0; begin == 0 || begin < records; begin += group) {
      const std::int64_t rows = std::min(group, records - begin);
      Relevance part =
          of_group_->attribute(part_of(inputs, begin, rows), part_of(target, begin, rows), wanted);
      result.start.insert(result.start.end(), part.start.begin(), part.start.begin() + rows);
      for (auto& [id, relevance] : part.values)
        pieces[id].push_back(relevance.narrow(axis_of(id), 0, rows * session_.record_axis(id).rows));
    }
    for (const auto& [id, list] : pieces) result.values.emplace(id, array::cat(list, axis_of(id)));
    return result;
  }
  std::vector<ValueId> reads(std::span<const ValueId>) const override { return {session_.logits()}; }
  std::string describe() const override { return of_group_->describe(); }

 private:
  int axis_of(ValueId id) const { return session_.record_axis(id).axis; }

  void require_records(ValueId id) const {
    if (axis_of(id) >= 0) return;
    fail(Fault::unsupported,
         "network '{}': the file fixes the batch size to {}, and which numbers of value '{}' belong to which "
         "record cannot be told; export it with a dynamic batch axis",
         session_.graph().name(), session_.group(), session_.graph().value(id).name);
  }

  // The last record fills up the last group.
  Tensors part_of(const Tensors& inputs, std::int64_t begin, std::int64_t rows) const {
    const Array picked = begin + array::arange(session_.group(), DType::int64).clamp_max(rows - 1);
    Tensors part;
    for (const auto& [id, tensor] : inputs) {
      const int axis = axis_of(id);
      part.emplace(id, axis < 0 || rows == 0 ? tensor : tensor.index_select(axis, picked));
    }
    return part;
  }
  Target part_of(const Target& target, std::int64_t begin, std::int64_t rows) const {
    Target part;
    part.threshold = target.threshold;
    for (std::int64_t i = 0; !target.weights.empty() && i < session_.group(); ++i)
      part.weights.push_back(i < rows ? target.weights[begin + i] : std::vector<float>());
    for (std::int64_t i = 0; !target.classes.empty() && i < session_.group(); ++i)
      part.classes.push_back(i < rows ? target.classes[begin + i] : Target::no_class);
    return part;
  }

  const Session& session_;
  std::unique_ptr<Attribution> of_group_;
};

// Values that depend on no record get zeros, and no method hears of them.
class OfRecords final : public Attribution {
 public:
  OfRecords(const Session& session, std::unique_ptr<Attribution> method)
      : session_(session), method_(std::move(method)), dependence_(session.graph()) {}

  Relevance attribute(const Tensors& given, const Target& target,
                      std::span<const ValueId> wanted) const override {
    const std::vector<ValueId> moving = moving_among(wanted);
    Relevance result = method_->attribute(given, target, moving);
    for (const ValueId id : wanted) {
      if (!dependence_.is_static(id)) continue;
      const Tensors values = session_.run(given, std::span(&id, 1));
      result.values[id] = array::zeros_like(values.at(id), DType::float32);
    }
    return result;
  }
  std::vector<ValueId> reads(std::span<const ValueId> wanted) const override {
    return method_->reads(moving_among(wanted));
  }
  std::string describe() const override { return method_->describe(); }

 private:
  std::vector<ValueId> moving_among(std::span<const ValueId> wanted) const {
    std::vector<ValueId> moving(wanted.begin(), wanted.end());
    std::erase_if(moving, [&](ValueId id) { return dependence_.is_static(id); });
    return moving;
  }

  const Session& session_;
  std::unique_ptr<Attribution> method_;
  Dependence dependence_;
};

// Letters and digits, the letters small: other tools write "SmoothGrad", "KernelSHAP" and "grad_cam".
std::string letters_of(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (is_alphanumeric(c)) letters += lower_case(c);
  }
  return letters;
}

}  // namespace

Catalogue<AttributionInfo>& attributions() {
  static Catalogue<AttributionInfo> all({"attribution"}, built_in());
  return all;
}

const AttributionInfo& attribution_named(const std::string& method) {
  const std::string name = parse_spec("attribution", method).name;
  const auto same = [&](const AttributionInfo& info) { return letters_of(info.name) == letters_of(name); };
  const auto found = std::ranges::find_if(attributions(), same);
  return attributions().contains(name) || found == attributions().end() ? attributions().find(name) : *found;
}

std::unique_ptr<Attribution> make_attribution(const std::string& method, const Session& session,
                                              const AttributionOptions& options) {
  const AttributionInfo& info = attribution_named(method);
  const SpecOptions own("attribution", parse_spec("attribution", method), info.options);
  const MakeMethod make = [&info, own](const Session& of, const AttributionOptions& chosen) {
    return std::make_unique<OfRecords>(of, info.make(of, chosen, own));
  };
  // Methods that ask for scores and gradients alone take branches and loops as they run.
  const bool by_nodes = info.has_rules || info.name == "deeplift";
  std::unique_ptr<Attribution> made = by_nodes && chooses_paths(session.graph())
                                          ? of_path_taken(session, options, make)
                                          : make(session, options);
  if (session.group() == 0) return made;
  return std::make_unique<InGroups>(session, std::move(made));
}

std::vector<bool> values_with_relevance(const Session& session) {
  return Lrp::reachable(composites().front(), session);
}

bool carries_relevance(const Session& session, const Layer& layer) {
  return values_with_relevance(session)[index_of(layer.value)];
}

}  // namespace assay::relevance

#include "assay/explore/disagreement.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

#include <assay/error.h>

namespace assay::explore {
namespace {

std::vector<bool> truths(const Tensor& mask) {
  const Tensor host = mask.contiguous();
  return std::vector<bool>(host.data_ptr<bool>(), host.data_ptr<bool>() + host.numel());
}

Tensor values_differ(const Tensor& outputs, const DisagreementOptions& options) {
  const Tensor far = (outputs.amax(0) - outputs.amin(0)).gt(options.margin);
  if (!options.opposite_signs) return far.any(1);
  const Tensor one_sign = outputs.gt(0).all(0).logical_or(outputs.lt(0).all(0));
  return far.logical_and(one_sign.logical_not()).any(1);
}

}  // namespace

Answers compare(const std::vector<Tensor>& scores, const DisagreementOptions& options) {
  std::vector<Tensor> rows;
  for (const Tensor& of_network : scores) {
    if (of_network.size(1) != scores[0].size(1)) {
      fail(Fault::mismatch,
           "the first network has {} outputs and another one {}; only networks for the same task can be "
           "compared",
           scores[0].size(1), of_network.size(1));
    }
    rows.push_back(of_network.detach().to(at::kCPU, at::kFloat));
  }
  Answers answers{
      .outputs = at::stack(rows).contiguous(), .classes = {}, .finite = {}, .differ = {}, .closeness = {}};
  const Tensor finite = at::isfinite(answers.outputs).all(2).all(0);
  Tensor differ, closeness;
  if (options.regression) {
    differ = values_differ(answers.outputs, options);
    closeness = -(answers.outputs.amax(0) - answers.outputs.amin(0)).amax(1);
  } else {
    answers.classes = answers.outputs.argmax(2).contiguous();
    differ = answers.classes.ne(answers.classes[0]).any(0);
    const Tensor leaders = std::get<0>(answers.outputs.topk(2, 2));
    closeness = (leaders.select(2, 0) - leaders.select(2, 1)).amin(0);
  }
  answers.finite = truths(finite);
  answers.differ = truths(differ.logical_and(finite));
  closeness = closeness.contiguous();
  answers.closeness.assign(closeness.data_ptr<float>(), closeness.data_ptr<float>() + closeness.numel());
  return answers;
}

std::optional<std::int64_t> majority(const Answers& answers, std::size_t record) {
  if (answers.networks() < 3 || !answers.classes.defined()) return std::nullopt;
  std::map<std::int64_t, std::size_t> votes;
  for (std::size_t k = 0; k < answers.networks(); ++k) {
    const std::int64_t named =
        answers.classes[static_cast<std::int64_t>(k)][static_cast<std::int64_t>(record)].item<std::int64_t>();
    if (2 * ++votes[named] > answers.networks()) return named;
  }
  return std::nullopt;
}

std::optional<std::vector<float>> median(const Answers& answers, std::size_t record) {
  if (answers.networks() < 3) return std::nullopt;
  std::vector<float> middle;
  for (std::int64_t t = 0; t < answers.outputs.size(2); ++t) {
    std::vector<float> values;
    for (std::int64_t k = 0; k < answers.outputs.size(0); ++k)
      values.push_back(answers.outputs[k][static_cast<std::int64_t>(record)][t].item<float>());
    std::ranges::sort(values);
    middle.push_back(values.size() % 2 == 1
                         ? values[values.size() / 2]
                         : (values[values.size() / 2 - 1] + values[values.size() / 2]) / 2);
  }
  return middle;
}

}  // namespace assay::explore

// Heads of attention that fail.

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <assay/extend/mutation_operator.h>
#include <assay/model.h>
#include "assay/engine/layers/attention.h"

namespace assay::mutation {
namespace {

// Heads side by side along the last axis of what a layer reads.
struct JoinedHeads {
  std::int64_t heads = 0, size = 0;  // numbers of each
};

// [records, heads, positions, size] out of a softmax and a product, or heads merged into the records,
// [records * heads, positions, size]; moved to [records, positions, heads * size].
std::optional<JoinedHeads> heads_read_by(const Subject& subject, const SubjectLayer& layer) {
  const auto attention = attention_of(subject.graph(), layer.input);
  if (!attention) return std::nullopt;
  const Shape &given = subject.shape(attention->product->outputs[0]), &joined = subject.shape(layer.input);
  const bool apart = given.size() == 4, merged = given.size() == 3 && given[0] > 1;
  if (!apart && !merged) return std::nullopt;
  const std::int64_t heads = given[apart ? 1 : 0];
  if (joined.empty() || joined.back() != heads * given.back()) return std::nullopt;
  return JoinedHeads{heads, given.back()};
}

// The layer reads another value in place of what it reads, made by `make` of it.
void read_instead(Edit& edit, const SubjectLayer& layer,
                  const std::function<ValueId(GraphBuilder&, ValueId)>& make) {
  edit.restructure([&layer, make](GraphBuilder& builder) {
    Node node = builder.node(layer.layer.node);
    std::ranges::replace(node.inputs, layer.input, make(builder, layer.input));
    builder.replace_node(layer.layer.node, std::move(node));
  });
}

void silence_head(Edit& edit, const SubjectLayer& layer, const JoinedHeads& joined, std::int64_t head) {
  std::vector<float> kept(joined.heads * joined.size, 1);
  std::fill_n(kept.begin() + head * joined.size, joined.size, 0.0F);
  read_instead(edit, layer, [name = layer.name(), kept](GraphBuilder& builder, ValueId input) {
    const ValueId mask =
        builder.constant(builder.unused_name(name + "/heads"), Array::of<float>({std::ssize(kept)}, kept));
    return builder.add("Mul", builder.unused_name(name + "/without_head"), {input, mask});
  });
  edit.note(layer, -1, fmt::format("head {} gives 0", head));
}

void swap_heads(Edit& edit, const SubjectLayer& layer, const JoinedHeads& joined, std::int64_t a,
                std::int64_t b) {
  std::vector<std::int64_t> order(joined.heads * joined.size);
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::swap_ranges(order.begin() + a * joined.size, order.begin() + (a + 1) * joined.size,
                   order.begin() + b * joined.size);
  read_instead(edit, layer, [name = layer.name(), order](GraphBuilder& builder, ValueId input) {
    const ValueId places = builder.constant(builder.unused_name(name + "/order"),
                                            Array::of<std::int64_t>({std::ssize(order)}, order));
    return builder.add("Gather", builder.unused_name(name + "/swapped_heads"), {input, places},
                       {{"axis", std::int64_t{-1}}});
  });
  edit.note(layer, -1, fmt::format("heads {} and {} are swapped", a, b));
}

const std::vector<std::string> head_faults{"zero", "swap"};

}  // namespace

OperatorInfo head_operator() {
  return {
      .name = "head",
      .title = "attention head fault",
      .summary = "a head of attention gives 0, or two heads are swapped",
      .definition =
          "a layer that reads the joined heads of attention (softmax, product, heads side by side along the "
          "last axis) reads 0 in place of a random head, or two random heads in each other's place",
      .limits =
          "layers that read no heads give no mutant; a head that the network does not need gives one "
          "that no test kills",
      .paper = "Michel et al., Are Sixteen Heads Really Better than One?, NeurIPS 2019",
      .level = OperatorInfo::Level::layer,
      .options = {{"kind", "zero", "zero, or swap"}},
      .variants = 1000,
      .refusal =
          [](const SubjectLayer&, const SpecOptions& options) {
            options.word("kind", head_faults);
            return std::string();
          },
      .apply =
          [](const MutationSite& target, Edit& edit) {
            const auto joined = heads_read_by(edit.subject(), target.layer);
            if (!joined) return;
            const std::uint64_t heads = joined->heads;
            const std::int64_t head = target.rng.below(heads);
            if (target.options.word("kind", head_faults) == "zero")
              return silence_head(edit, target.layer, *joined, head);
            if (heads < 2) return;
            const std::int64_t step = 1 + target.rng.below(heads - 1);
            swap_heads(edit, target.layer, *joined, head, (head + step) % joined->heads);
          }};
}

}  // namespace assay::mutation

// A class for every token of a sequence: tagging, and the next token.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <tuple>

#include "assay/task/counts.h"
#include "assay/task/positions.h"

namespace assay::task {
namespace {

// "B-PER" as its prefix and its type; "O" has no type.
struct Tag {
  char prefix = 'O';
  std::string_view type;
};

Tag tag_of(std::string_view name) {
  if (name.size() > 1 && name[1] == '-' && std::string_view("BIES").find(name[0]) != std::string_view::npos)
    return {name[0], name.substr(2)};
  return {};
}

using Span = std::tuple<std::string_view, std::size_t, std::size_t>;  // type, first token, last token

// Entities of a sequence of tags, as the evaluation of CoNLL-2000 reads them: one begins at B or S, after the
// end of another, or where the type changes.
std::set<Span> spans_of(const std::vector<Tag>& tags) {
  std::set<Span> found;
  Tag before;
  std::size_t first = 0;
  for (std::size_t i = 0; i <= tags.size(); ++i) {
    const Tag now = i < tags.size() ? tags[i] : Tag{};
    const bool inside = before.prefix != 'O';
    const bool changes = now.prefix == 'O' || now.prefix == 'B' || now.prefix == 'S' ||
                         before.prefix == 'E' || before.prefix == 'S' || before.type != now.type;
    if (inside && changes) found.emplace(before.type, first, i - 1);
    if (now.prefix != 'O' && (!inside || changes)) first = i;
    before = now;
  }
  return found;
}

class Tokens final : public PositionsTask {
 public:
  Tokens(const SpecOptions& options, const TaskSubject& subject)
      : Tokens(options, layout_of(options, subject, {-1})) {}

  std::string describe() const override { return "tokens: " + task::describe(layout(), labels()); }
  Judgement judge(const JudgedRecord& record) const override {
    Judgement result = judge_positions(layout(), record, labels(), /*surprises=*/true);
    if (tagged_) result.sums.spans = spans(result);
    return result;
  }
  std::vector<Figure> figures(const Sums& sums) const override {
    const double items = std::max<std::uint64_t>(1, sums.items);
    std::vector<Figure> all = {{.name = "token-accuracy", .value = share(sums.right, sums.items).value_or(0)},
                               {.name = "perplexity",
                                .value = std::exp(sums.surprise / items),
                                .higher_is_better = false,
                                .is_share = false}};
    if (tagged_) {
      all.insert(all.begin(), {.name = "entity-f1", .value = dice(sums.spans).value_or(0)});
      all.push_back({.name = "entity-precision", .value = precision(sums.spans).value_or(0)});
      all.push_back({.name = "entity-recall", .value = recall(sums.spans).value_or(0)});
    }
    all.push_back({.name = "sequences-right", .value = share(sums.whole, sums.records).value_or(0)});
    add_by_class(all, "recall", sums, recall);
    add_by_class(all, "precision", sums, precision);
    add_by_class(all, "f1", sums, dice);
    return all;
  }

 private:
  Tokens(const SpecOptions& options, const PositionLayout& layout)
      : PositionsTask(layout, names_of_classes(options, layout.named()),
                      {.ignored = ignored_label(options)}) {
    for (const std::string& name : names()) tags_.push_back(tag_of(name));
    tagged_ = std::ranges::any_of(tags_, [](const Tag& tag) { return tag.prefix != 'O'; });
  }

  Counts spans(const Judgement& judged) const {
    std::vector<Tag> decided, wanted;
    for (std::size_t i = 0; i < judged.wanted.size(); ++i) {
      if (judged.wanted[i] < 0) continue;
      wanted.push_back(tags_[judged.wanted[i]]);
      decided.push_back(judged.decided[i] < 0 ? Tag{} : tags_[judged.decided[i]]);
    }
    const std::set<Span> in_truth = spans_of(wanted), by_network = spans_of(decided);
    Counts counts{.decided = by_network.size(), .wanted = in_truth.size()};
    for (const Span& span : by_network) counts.matched += in_truth.contains(span) ? 1 : 0;
    return counts;
  }

  std::vector<Tag> tags_;  // by class
  bool tagged_ = false;
};

}  // namespace

TaskInfo tokens_task() {
  return {
      .name = "tokens",
      .summary = "a class for every token of a sequence (tags, the next token)",
      .definition =
          "an item is a token. Its class is the one with the greatest score of the last axis, the first "
          "among equals. token-accuracy: right tokens of those that count, over all records. perplexity: e "
          "to the mean over tokens of -ln of the probability of the true class. With names such as B-PER and "
          "I-PER (also E- and S-) entities are the runs that tags mark; one is right where type, first and "
          "last token are; entity-f1 over all records. precision, recall and f1 by class",
      .limits =
          "labels are those of each position: shift next-token labels by one yourself. Of more than 1,000 "
          "classes none is reported on its own",
      .paper = "Tjong Kim Sang, Buchholz, CoNLL 2000, for entities",
      .options = {{"axis", "", "axis of the classes, the batch axis counted as 0; empty: the last"},
                  {"ignore", "-100", "label of tokens that do not count, such as padding; none: all count"},
                  {"threshold", "", "of one score a token; empty: 0.5 of probabilities, else 0"},
                  {"names", "", "names of the classes, joined by +; empty: their numbers"}},
      .fits =
          [](const TaskSubject& subject) {
            return subject.output.size() == 2 && layout_along(subject, -1).has_value();
          },
      .make = [](const SpecOptions& options, const TaskSubject& subject) -> std::unique_ptr<Task> {
        return std::make_unique<Tokens>(options, subject);
      }};
}

}  // namespace assay::task

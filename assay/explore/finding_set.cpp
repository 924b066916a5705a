#include "assay/explore/finding_set.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>

#include <assay/dataset.h>
#include <assay/error.h>
#include <assay/evaluate.h>
#include <assay/extend/constraint.h>
#include "assay/attack/adversarial_set.h"
#include "assay/attack/preparation.h"
#include "assay/data/files/numpy.h"
#include "assay/engine/elements.h"
#include "assay/explore/disagreement.h"

namespace assay::explore {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t rows_at_a_time = 256;

std::vector<bool> whole_elements(const Constraint& constraint, const Dataset& seeds) {
  const Array whole = constraint.integers(element_count(seeds.record_shape()));
  return whole.defined() ? truths_of(whole) : std::vector<bool>();
}

class Writer {
 public:
  Writer(const std::vector<ExploredNetwork>& networks, const Dataset& seeds, const ExploreOptions& options)
      : seeds_(seeds),
        levels_(options.search.levels),
        preparation_(*networks.front().session, seeds, {}),
        integers_(whole_elements(*make_constraint(options.constraints), seeds)) {}

  void write(const std::vector<Finding>& findings, const fs::path& file, bool voted) const {
    const std::int64_t count = findings.size();
    Shape shape = seeds_.record_shape();
    shape.insert(shape.begin(), count);
    std::map<std::string, Array> arrays{
        {"x", Array(levels_ ? DType::uint8 : DType::float32, shape, records(findings))},
        {"ids", name_rows(names_of(findings, seeds_))}};
    add_facts(seeds_, levels_ ? DType::uint8 : DType::float32, arrays);
    const auto numbers = [&]<typename T>(const std::string& name, T, const auto& of) {
      std::vector<T> values;
      for (const Finding& finding : findings) values.push_back(static_cast<T>(of(finding)));
      arrays.emplace(name, Array::of<T>({count}, values));
    };
    numbers("original", std::int64_t{}, [](const Finding& finding) { return finding.seed; });
    numbers("iterations", std::int64_t{}, [](const Finding& finding) { return finding.iterations; });
    for (const auto& [name, field] : {std::pair("l0", &Finding::l0), std::pair("l1", &Finding::l1),
                                      std::pair("l2", &Finding::l2), std::pair("linf", &Finding::linf)}) {
      numbers(name, double{}, [field = field](const Finding& finding) { return finding.*field; });
    }
    if (!findings.empty() && !findings[0].classes.empty()) {
      std::vector<std::int64_t> classes;
      for (const Finding& finding : findings)
        classes.insert(classes.end(), finding.classes.begin(), finding.classes.end());
      arrays.emplace("classes", Array::of<std::int64_t>(
                                    {count, static_cast<std::int64_t>(findings[0].classes.size())}, classes));
      numbers("majority", std::int64_t{},
              [](const Finding& finding) { return finding.majority.value_or(-1); });
    }
    if (voted)
      add_votes(findings, arrays);
    else
      add_labels(findings, arrays);
    write_npz(file, arrays);
  }

 private:
  std::vector<std::byte> records(const std::vector<Finding>& findings) const {
    std::vector<std::byte> bytes;
    for (std::size_t begin = 0; begin < findings.size(); begin += rows_at_a_time) {
      const std::span part =
          std::span(findings).subspan(begin, std::min(rows_at_a_time, findings.size() - begin));
      const auto append = [&](const auto& values) {
        const auto of_part = std::as_bytes(std::span(values));
        bytes.insert(bytes.end(), of_part.begin(), of_part.end());
      };
      if (levels_)
        append(attack::Preparation::to_levels(points_of(part)));
      else
        append(numbers_of(part));
    }
    return bytes;
  }

  static Array points_of(std::span<const Finding> findings) {
    std::vector<Array> points;
    for (const Finding& finding : findings) points.push_back(finding.point);
    return array::stack(points);
  }

  // What has not moved is the seed's bit for bit; integers are whole.
  std::vector<float> numbers_of(std::span<const Finding> findings) const {
    std::vector<std::size_t> positions;
    for (const Finding& finding : findings) positions.push_back(finding.seed);
    const Batch batch = seeds_.read(positions);
    const Array clean = batch.inputs;
    std::vector<float> values =
        preparation_.to_records(clean, preparation_.problem(batch), points_of(findings));
    if (integers_.empty()) return values;
    const std::vector<float> before = floats_of(clean);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (integers_[i % integers_.size()] && values[i] != before[i]) values[i] = std::nearbyint(values[i]);
    }
    return values;
  }

  void add_labels(const std::vector<Finding>& findings, std::map<std::string, Array>& arrays) const {
    const std::int64_t count = findings.size();
    if (seeds_.has_labels()) {
      std::vector<std::int64_t> labels;
      for (const Finding& finding : findings) labels.push_back(seeds_.label(finding.seed));
      arrays.emplace("y", Array::of<std::int64_t>({count}, labels));
    } else if (seeds_.target_width() > 0) {
      std::vector<std::size_t> positions;
      for (const Finding& finding : findings) positions.push_back(finding.seed);
      arrays.emplace("y", seeds_.read(positions).targets);
    }
  }

  static void add_votes(const std::vector<Finding>& findings, std::map<std::string, Array>& arrays) {
    const std::int64_t count = findings.size();
    std::vector<std::int64_t> labels;
    std::vector<float> medians;
    for (const Finding& finding : findings) {
      if (finding.majority)
        labels.push_back(*finding.majority);
      else
        medians.insert(medians.end(), finding.median->begin(), finding.median->end());
    }
    if (medians.empty())
      arrays.emplace("y", Array::of<std::int64_t>({count}, labels));
    else
      arrays.emplace("y",
                     Array::of<float>({count, static_cast<std::int64_t>(medians.size()) / count}, medians));
  }

  const Dataset& seeds_;
  bool levels_;
  attack::Preparation preparation_;
  std::vector<bool> integers_;  // elements of a record that are whole; empty: none
};

// Per record of the file, whether the networks still disagree.
std::vector<bool> still_differ(const std::vector<ExploredNetwork>& networks, const DatasetPtr& written,
                               const DisagreementOptions& options, bool regression, std::size_t batch,
                               Progress& progress) {
  std::vector<attack::AttackedNetwork> attacked;
  for (const ExploredNetwork& network : networks)
    attacked.emplace_back(*network.session, attack::InputUnits{}, regression);
  DisagreementOptions how = options;
  how.regression = regression;
  std::vector<bool> differ;
  walk(*networks.front().session, written, {.batch = batch, .stage = "reading findings back"}, progress,
       [&](const Batch& read, const Tensors&) {
         std::vector<Array> scores;
         for (const attack::AttackedNetwork& network : attacked) {
           const Array outputs = network.outputs(network.session().bind(read));
           scores.push_back(regression ? outputs : network.scores_of({}, outputs));
         }
         const Answers answers = compare(scores, how);
         differ.insert(differ.end(), answers.differ.begin(), answers.differ.end());
       });
  return differ;
}

}  // namespace

std::vector<std::string> names_of(const std::vector<Finding>& findings, const Dataset& seeds) {
  std::map<std::size_t, std::size_t> taken;
  std::vector<std::string> names;
  for (const Finding& finding : findings) {
    const std::size_t turn = ++taken[finding.seed];
    names.push_back(turn == 1 ? seeds.id(finding.seed) : fmt::format("{}~{}", seeds.id(finding.seed), turn));
  }
  return names;
}

StoredFindings store(const std::vector<ExploredNetwork>& networks, const Dataset& seeds,
                     std::vector<Finding>& findings, const ExploreOptions& options, const fs::path& folder,
                     std::size_t batch, Progress& progress) {
  const DType type = options.search.levels ? DType::uint8 : DType::float32;
  const Writer writer(networks, seeds, options);
  StoredFindings result{.file = folder / "findings.npz",
                        .data = attack::spec_of_file(folder / "findings.npz", seeds, type),
                        .voted = {},
                        .voted_data = {}};
  if (!findings.empty()) {
    const attack::UncheckedFile unchecked(result.file);
    writer.write(findings, unchecked.path(), false);
    const std::vector<bool> differ =
        still_differ(networks, open_dataset(attack::spec_of_file(unchecked.path(), seeds, type)),
                     options.search.disagreement, seeds.target_width() > 0, batch, progress);
    std::vector<Finding> kept;
    for (std::size_t i = 0; i < findings.size(); ++i) {
      if (differ[i]) kept.push_back(std::move(findings[i]));
    }
    result.lost = findings.size() - kept.size();
    findings = std::move(kept);
  }
  writer.write(findings, result.file, false);
  std::vector<Finding> voted;
  std::ranges::copy_if(findings, std::back_inserter(voted),
                       [](const Finding& finding) { return finding.majority || finding.median; });
  result.voted_count = voted.size();
  const fs::path voted_file = folder / "voted.npz";
  if (voted.empty()) {
    std::error_code ignored;
    fs::remove(voted_file, ignored);
    return result;
  }
  writer.write(voted, voted_file, true);
  result.voted = voted_file;
  result.voted_data = attack::spec_of_file(voted_file, seeds, type);
  return result;
}

std::vector<std::size_t> findings_named(const fs::path& file, const Dataset& findings,
                                        const std::vector<std::int64_t>& classes) {
  const auto arrays = file.extension() == ".npz" ? read_npz(file) : std::map<std::string, Array>();
  const auto named = arrays.find("classes");
  const bool fits = named != arrays.end() && named->second.dtype() == DType::int64 &&
                    named->second.shape() == Shape{static_cast<std::int64_t>(findings.size()),
                                                   static_cast<std::int64_t>(classes.size())};
  if (!fits)
    fail(Fault::usage,
         "{}: {} does not say what each of {} networks names each finding; give the whole findings.npz of "
         "{}, and as many classes as networks",
         About{"classes of findings", "{between}"}, file.string(), classes.size(),
         About{"an exploration", "`assay explore`"});
  const auto rows = named->second.as<std::int64_t>();
  std::vector<std::size_t> positions;
  for (std::size_t i = 0; i < findings.size(); ++i) {
    if (std::ranges::equal(rows.subspan(i * classes.size(), classes.size()), classes)) positions.push_back(i);
  }
  return positions;
}

}  // namespace assay::explore

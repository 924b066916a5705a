#include "assay/coverage/request.h"

#include <assay/error.h>
#include "assay/coverage/learning/profile_json.h"
#include "assay/support/text/parse.h"
#include "assay/support/text/text.h"

namespace assay::coverage {
namespace {

const About anew{"from training records", "with {train}"};

std::vector<std::string> numbers_in(const std::string& ms) {
  if (ms == "auto") return {ms};
  std::vector<std::string> numbers;
  for (const std::int64_t m :
       parse_positive(ms, ',', About{"numbers of important neurons", "{neurons}"}, "6,8,10"))
    numbers.push_back(std::to_string(m));
  return numbers;
}

}  // namespace

std::vector<Spec> asked_criteria(const std::string& preset, const std::vector<std::string>& texts,
                                 const std::string& ms) {
  std::vector<std::string> all =
      preset.empty() ? std::vector<std::string>() : presets().find(preset).criteria();
  all.insert(all.end(), texts.begin(), texts.end());
  if (all.empty()) all.emplace_back("idc");
  std::vector<Spec> asked;
  for (const std::string& text : all) {
    const Spec spec = parse_spec("criterion", text);
    criteria().find(spec.name);
    if (spec.name != "idc" || spec.options.contains("m")) {
      asked.push_back(spec);
      continue;
    }
    for (const std::string& m : numbers_in(ms)) {
      asked.push_back(spec);
      asked.back().options["m"] = m;
    }
  }
  return asked;
}

Heeded heeded_by(const std::vector<Spec>& criteria) {
  using Needs = CriterionInfo::Needs;
  Heeded heeded;
  for (const Spec& spec : criteria) {
    const CriterionInfo& info = coverage::criteria().find(spec.name);
    heeded.subjects |= info.needs > Needs::quantiles || !info.all_layers;
    heeded.layers |= info.all_layers;
    heeded.clusters |= info.needs == Needs::clusters || info.needs == Needs::combinations;
    heeded.combinations |= info.needs == Needs::combinations;
    heeded.named |= info.names_combinations;
    for (const SpecOption& option : info.options) {
      const auto given = spec.options.find(option.name);
      heeded.share |=
          option.name == "m" && (given == spec.options.end() ? option.fallback : given->second) == "auto";
    }
  }
  return heeded;
}

std::string whole_text(const std::vector<Spec>& asked) {
  std::vector<std::string> texts;
  for (Spec spec : asked) {
    for (const SpecOption& option : criteria().find(spec.name).options) {
      if (!option.fallback.empty()) spec.options.emplace(option.name, option.fallback);
    }
    texts.push_back(spec.text());
  }
  return joined(texts);
}

std::shared_ptr<const Profile> profile_in(const ReadProfile& read, const Session& session) {
  Profile profile = read_profile(read.file);
  if (read.carried_over) profile = carried_over(std::move(profile), session);
  require_profile_fits(profile, session.graph().hash(), session.graph().name());
  return std::make_shared<const Profile>(std::move(profile));
}

std::shared_ptr<const Profile> learned_profile(const Session& session, const DatasetPtr& training,
                                               const LearnOptions& options, Progress& progress) {
  return std::make_shared<const Profile>(learn_profile(session, training, options, progress).profile);
}

void require_settings(const Profile& profile, const Settings& asked, const SaidSettings& said,
                      const std::filesystem::path& file) {
  const auto text_in = [](const Settings& all, const std::string& name) {
    const auto found = all.find(name);
    return found == all.end() ? std::string() : joined(found->second);
  };
  for (const auto& [name, called] : said) {
    if (profile.settings.empty())
      fail(Fault::mismatch,
           "{} has no effect with {} {}, which does not tell what it was learned with; leave it out, or "
           "learn again {}",
           called, About{"profile", "{profile}"}, file.string(), anew);
    const std::string wanted = text_in(asked, name), learned = text_in(profile.settings, name);
    if (wanted != learned)
      fail(Fault::mismatch,
           "{} {} contradicts {} {}, which was learned with {}; leave the {} out, or learn again {}", called,
           wanted, About{"profile", "{profile}"}, file.string(),
           !learned.empty()  ? learned
           : name == "items" ? "records"
                             : "all",
           About{"setting", "flag"}, anew);
  }
}

CoverageState begin_state(const std::shared_ptr<const Profile>& profile, const std::vector<Spec>& asked,
                          bool by_class, const std::filesystem::path& add_to) {
  CoverageState state(profile, choices_of<CriterionInfo>(asked), by_class);
  if (add_to.empty() || !std::filesystem::exists(add_to)) return state;
  CoverageState earlier = CoverageState::read(add_to, profile);
  if (earlier.specs() != state.specs() || earlier.by_class() != by_class) {
    fail(Fault::mismatch, "{} holds other criteria than this run; use the same criteria, or another {}",
         add_to.string(), About{"state", "{state}"});
  }
  return earlier;
}

std::optional<double> accuracy_on(const CoverageState& state, const Dataset& data) {
  std::optional<double> accuracy;
  for (const auto& part : state.parts()) {
    if (part->labelled > 0 && part->data_hash == data.hash())
      accuracy = static_cast<double>(part->correct) / part->labelled;
  }
  return accuracy;
}

}  // namespace assay::coverage

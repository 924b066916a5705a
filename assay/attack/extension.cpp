#include "assay/attack/extension.h"

namespace assay::attack {

std::vector<Extension> extend(const Session& session, const std::shared_ptr<const coverage::Profile>& profile,
                              const std::vector<Spec>& criteria, const DatasetPtr& test,
                              std::span<const Spec> attacks, const ExtensionOptions& options,
                              Progress& progress) {
  std::vector<Extension> extensions;
  const std::vector<std::string> names = names_of(attacks);
  for (std::size_t i = 0; i < attacks.size(); ++i) {
    const std::filesystem::path file = options.folder / (names[i] + ".npz");
    extensions.push_back(
        {names[i],
         attack_dataset(session, test, attacks[i], file,
                        {.batch = options.batch,
                         .seed = options.seed,
                         .all = true,
                         .journal = journal_of(file),
                         .task = options.task},
                        progress),
         coverage::CoverageState(profile, choices_of<coverage::CriterionInfo>(criteria), false)});
    Extension& extension = extensions.back();
    if (extension.made.stored > 0) {
      coverage::measure(session, extension.state, open_dataset(extension.made.data),
                        {.context = names[i], .batch = options.batch}, progress);
    }
  }
  for (const Extension& extension : extensions) std::filesystem::remove(journal_of(extension.made.file));
  return extensions;
}

}  // namespace assay::attack

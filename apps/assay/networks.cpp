#include "apps/assay/networks.h"

#include <assay/error.h>

namespace assay::app {

void NetworksInput::declare(Flags& flags) {
  flags.take_those_of_networks();
  flags.naming(Concept::network)
      .add("model,--model FILE", models_, "networks for the same task: two or more, or one with --mutant");
  flags.add_list("--mutant TEXT,...", mutants_,
                 "a mutant of the first network: an operator on every layer (int8@all), on one "
                 "(gf[sigma=0.5]@conv2#17), or drawn from the seed (ns); may be repeated");
  flags.naming(Concept::profile)
      .add("--profile FILE", profiles_,
           "profile of each network, in the same order, as `assay cover --profile` writes it, instead of "
           "--train");
  adaptation_.declare(flags);
  adaptation_.declare_views(flags);
  training_.declare(flags);
}

answers::SeveralNetworks NetworksInput::asked() const {
  if (models_.empty()) refuse("which networks? name two or more files, or one with --mutant");
  if (!profiles_.empty()) {
    if (units_.given()) refuse("profiles say which units count; leave out --units or --profile");
    refuse_without_effect({training_.option()}, of_flags("with --profile, which says what was learned"));
    const std::size_t count = models_.size() + mutants_.size();
    if (count > 1 && profiles_.size() != count)
      refuse("{} profiles for {} networks; one --profile for each is needed, in their order",
             profiles_.size(), count);
  }
  return {.files = models_,
          .mutants = mutants_,
          .adaptation = adaptation_.options(),
          .profiles = profiles_,
          .training = profiles_.empty() ? training_.open_if_given() : nullptr,
          .units = units_.texts()};
}

}  // namespace assay::app

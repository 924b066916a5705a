#include "apps/assay/flag_names.h"

#include <array>
#include <utility>

namespace assay::app {

std::string with_flags(std::string message) {
  using Entry = std::pair<std::string_view, std::string_view>;
  static constexpr std::array<Entry, 73> names{{
      {"to train one as well, name it or say all",
       "--also-train NAME trains one as well, --also-train all all that a gradient reaches"},
      {"to declare the accuracy finds", "--expect-accuracy finds"},
      {"additions by ", "--against "},
      {"further records that are reached have no effect", "--reached has no effect"},
      {"have gradients pass straight through", "use --straight-through to have gradients pass"},
      {"give a larger pool", "give a larger --pool"},
      {"have at least three networks vote on them",
       "give --labels majority --voters A B C to have networks vote"},
      {"hold out another share, or give other records to judge by",
       "give another --hold-out, or --held-out SPEC"},
      {"no journal of retraining; name another folder",
       "no journal of retraining; name another --checkpoint"},
      {"one repeat gives no interval", "one repeat gives no interval; use --repeats"},
      {"then the loss mse", "then --loss mse"},
      {"use a smaller learning rate", "use a smaller --learning-rate"},
      {"they read OPERATOR[options]@LAYER#SEED",
       "they read OPERATOR[options]@LAYER#SEED, as `assay mutate --list` prints them"},
      {"for a regression network give a margin", "for a regression network give a margin (--margin)"},
      {"write a new one", "write one with --json"},
      {"give the result of a measuring command",
       "give a document that a measuring command wrote with --json"},
      {"learn it again from the training data", "learn it again with --train"},
      {"measure again with one profile", "measure again with one --profile"},
      {"learn it from training records, or judge no plausibility",
       "learn it with --train, or choose --plausibility none"},
      {"or no judging of plausibility", "or --plausibility none"},
      {"or mutants of the one (int8, say)", "or mutants of the one (--mutant int8)"},
      {"use another folder, or remove the file", "use another --out, or remove the file"},
      {"classes of findings: ", "--between: "},
      {"findings.npz of an exploration", "findings.npz of `assay explore`"},
      {"choosing by ", "--by "},
      {"the network is wrong on every record",
       "the network is wrong on every record; --all attacks these too"},
      {"not open now; give its file again", "not open now; give it again with --model NAME=FILE"},
      {"not open now; give them again", "not open now; give them again with --data"},
      {"not open now; give its source again", "not open now; give its source again with --hypotheses"},
      {"tells which pixels are relevant",
       "tells which pixels are relevant (`assay importance --help` lists them)"},
      {"to be no worse than ", "--no-worse-than "},
      {"use the same criteria, or another state", "use the same criteria, or another --state"},
      {"numbers of important neurons '", "-m '"},
      {"to raise coverage by ", "--coverage-raising "},
      {"of the truth ", "--truth "},
      {"or allow any", "or --any-baseline"},
      {"or have it replaced", "or replace it with --force"},
      {"steps to run again: no step", "--rerun: no step"},
      {"no command was run again", "no command was run again (--rerun)"},
      {"input files are not there", "input files are not there (--from FOLDER)"},
      {"choice of units '", "--units '"},
      {"network known as ", "--model "},
      {"to specialise '", "--specialise '"},
      {"to pass straight through: network", "--straight-through: network"},
      {"start parts of the work by themselves", "start parts of the work by themselves with --shard"},
      {"chosen units name neurons of layer", "--units name neurons of layer"},
      {"which the layers that count leave out", "which --count-layer leaves out"},
      {"criteria of preset ", "--preset "},
      {" has no effect with profile ", " has no effect with --profile "},
      {" contradicts profile ", " contradicts --profile "},
      {"leave the setting out", "leave the flag out"},
      {"learn anew from training records", "learn anew with --train"},
      {"is to be judged? name one", "is to be judged? name it with --test SPEC"},
      {"has a place at layer ", "has a place at --layer "},
      {"leave this choice out", "leave it out (`assay mutate list` shows the places)"},
      {"a margin is needed, by which", "--margin is needed, by which"},
      {"leave it out in all parts, or in none", "run all parts with --killable, or none"},
      {"a file of scores has all", "--scores FILE has all"},
      {"ask for fewer additions,", "ask for fewer (--count),"},
      {"have mutants judged by how far outputs differ and audit with their state, or draw none",
       "judge mutants by how far outputs differ (assay mutate --margin M --state FILE) and audit with them "
       "(--mutants FILE), or with none (--count 0)"},
      {"criteria without classes (nc), mutants judged by a margin and inspection need none",
       "criteria without classes (cover --criterion nc), mutate --margin and inspect need none"},
      {"needs more than the limit on memory", "needs more than the limit on memory (--memory)"},
      {"one mutant is written into one file: name both",
       "export writes one mutant: name it with --mutant TEXT (assay mutate list shows them) and its file "
       "with --out FILE.onnx"},
      {"are trained networks to be kept? name a folder",
       "are trained networks to be kept? give --store FOLDER"},
      {"the same without parts makes", "the same command without --shard makes"},
      {"no training records are named:", "no training records are named (--train):"},
      {"condition '", "--fail-under '"},
      {"an earlier result has no effect", "--no-worse-than has no effect"},
      {"chosen layer ", "--layer "},
      {"another share may be said", "--quality says another share"},
      {"name training records, or the profile of an earlier run",
       "give --train SPEC, or --profile FILE of an earlier run"},
      {"a profile is carried over where one is read; leave out the training records",
       "--carry-over is about a profile that is read; leave out --train"},
      {"or mutants of this one, such as ", "or mutants of this one, such as --mutant "},
  }};
  for (const auto& [concept_name, flag] : names) {
    const std::size_t at = message.find(concept_name);
    if (at != std::string::npos) message.replace(at, concept_name.size(), flag);
  }
  return message;
}

}  // namespace assay::app

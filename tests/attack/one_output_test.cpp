// Every attack does to a network with one output what it does to its twin with the scores -z/2 and z/2, and
// to a network that bends its scores what it does to the scores themselves.

#include "tests/attack/build.h"
#include "tests/engine/endings.h"

namespace assay::test {
using namespace attack;
namespace {

// Options under which an attack takes little time and flat records of three elements.
std::string spec_of(const std::string& name) {
  if (name == "cw") return "cw[search=2,iterations=60,rate=0.02,constant=1]";
  if (name == "salt-pepper" || name == "noise-random" || name == "noise-relevant" || name == "removal")
    return name + "[share=0.4]";
  return name;
}

Array attacked(const Graph& graph, const std::string& name) {
  const Session session(graph, one_thread);
  const AttackedNetwork network(session, {}, false);
  return perturbed(spec_of(name), network, problem_of(network, random_records(24, {3})));
}

// Of flat records: the natural corruptions are for pictures.
std::vector<std::string> attack_names() {
  return {"fgsm", "bim", "pgd", "mi-fgsm", "jsma", "cw", "deepfool", "noise", "noise-relevant", "removal"};
}

TEST(OneOutput, IsAttackedAsItsTwinWithTwo) {
  for (const auto& [ending, build] : keeping_side()) {
    const Graph one = network_with(1, build), two = twin_of(one);
    for (const std::string& name : attack_names())
      EXPECT_LT(greatest_difference(attacked(one, name), attacked(two, name)), 1e-3)
          << name << ", " << ending;
  }
}

TEST(BentScores, AreAttackedAsTheScoresThemselves) {
  const Graph plain = network_with(4, [](Net&, ValueId z) { return z; });
  for (const auto& [ending, build] : keeping_order()) {
    if (ending == "Hardmax") continue;  // ties at every record but where it changes
    const Graph bent = network_with(4, build);
    for (const char* name : {"fgsm", "bim", "deepfool", "removal"})
      EXPECT_LT(greatest_difference(attacked(bent, name), attacked(plain, name)), 1e-3)
          << name << ", " << ending;
  }
}

}  // namespace
}  // namespace assay::test

// A custom constraint: only the left half of a picture may change.
#include <assay/array_math.h>

#include <assay/extend/constraint.h>
#include <assay/extend/plugin.h>

namespace {

using namespace assay;

class LeftHalf final : public explore::Constraint {
 public:
  Array direction(const explore::Searches&, const Array&, const Array& wanted) const override {
    Array allowed = wanted.clone();
    allowed.slice(-1, wanted.size(-1) / 2).zero_();
    return allowed;
  }
};

void enter() {
  explore::constraints().add({.name = "left-half",
                              .summary = "only the left half of a record changes",
                              .definition = "the wanted direction, 0 in the right half of the last axis",
                              .limits = "an example",
                              .paper = "an example",
                              .options = {},
                              .make = [](const SpecOptions&) -> std::unique_ptr<explore::Constraint> {
                                return std::make_unique<LeftHalf>();
                              }});
}

}  // namespace

ASSAY_PLUGIN("left-half", enter)

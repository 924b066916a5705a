#include "assay/relevance/composite.h"

namespace assay::relevance {
namespace {

constexpr Composite known_composites[] = {
    {"epsilon", "LRP-epsilon everywhere", "Bach et al., PLoS ONE 2015", "epsilon", "epsilon", "epsilon"},
    {"lrp-0", "LRP without stabiliser everywhere", "Bach et al., PLoS ONE 2015", "lrp-0", "lrp-0", "lrp-0"},
    {"z-plus", "positive contributions only, everywhere", "Montavon et al., Pattern Recognition 2017",
     "z-plus", "z-plus", "z-plus"},
    {"alpha2-beta1", "alpha-beta with 2 and 1 everywhere", "Bach et al., PLoS ONE 2015", "alpha-beta:2,1",
     "alpha-beta:2,1", "alpha-beta:2,1"},
    {"gamma", "gamma 0.25 everywhere", "Andeol et al., 2021", "gamma", "gamma", "gamma"},
    {"w-square", "squared weights everywhere", "Montavon et al., Pattern Recognition 2017", "w-square",
     "w-square", "w-square"},
    {"flat", "equally over all connections, everywhere", "Lapuschkin et al., Nature Communications 2019",
     "flat", "flat", "flat"},
    {"epsilon-plus", "convolutions z-plus, the rest epsilon", "Kohlbrenner et al., IJCNN 2020", "", "z-plus",
     "epsilon"},
    {"epsilon-plus-flat", "first layer flat, convolutions z-plus, the rest epsilon",
     "Kohlbrenner et al., IJCNN 2020", "flat", "z-plus", "epsilon"},
    {"epsilon-alpha2-beta1", "convolutions alpha-beta 2 and 1, the rest epsilon",
     "Kohlbrenner et al., IJCNN 2020", "", "alpha-beta:2,1", "epsilon"},
    {"epsilon-alpha2-beta1-flat", "first layer flat, convolutions alpha-beta 2 and 1, the rest epsilon",
     "Kohlbrenner et al., IJCNN 2020", "flat", "alpha-beta:2,1", "epsilon"},
    {"epsilon-gamma-box", "first layer z^B, convolutions gamma 0.25, the rest epsilon",
     "Montavon et al., Explainable AI (LNCS 11700), 2019", "box", "gamma", "epsilon"},
    {"attn-lrp", "epsilon everywhere, and through attention weights", "Achtibat et al., ICML 2024", "",
     "epsilon", "epsilon", true},
    {"attn-lrp-gamma", "gamma 0.25 everywhere, and through attention weights", "Achtibat et al., ICML 2024",
     "", "gamma", "gamma", true},
};

}  // namespace

std::span<const Composite> composites() { return known_composites; }

}  // namespace assay::relevance

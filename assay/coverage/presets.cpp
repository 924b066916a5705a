// Criteria with the options of a paper or its released code.

#include <assay/extend/criteria.h>
#include "assay/coverage/released.h"

namespace assay::coverage {

std::vector<std::string> CriteriaPreset::criteria() const {
  std::vector<std::string> texts = specs;
  for (const CriterionInfo& info : coverage::criteria()) {
    if (takes && takes(info)) texts.push_back(info.name);
  }
  return texts;
}

Catalogue<CriteriaPreset>& presets() {
  static Catalogue<CriteriaPreset> all(
      {"preset"},
      {
          {{"deepimportance",
            "Gerasimou et al., ICSE 2020: IDC with everything it was compared to, options as in section 5",
            {"idc[m=6]", "idc[m=8]", "idc[m=10]", "idc[m=12]", "nc[threshold=0.75]", "kmnc[sections=1000]",
             "nbc", "snac", "tknc[k=3]", "lsc[upper=2000,buckets=1000]", "dsc[upper=2,buckets=1000]"}}},
          {{released_preset,
            "Gerasimou et al., ICSE 2020: IDC as the released code computes it, which the paper's figures "
            "rest on and its text does not define; of assay cover alone, nothing else beside it",
            {"idc"}}},
          {{"deepxplore",
            "Pei et al., SOSP 2017: neuron coverage, activations scaled by layer and record",
            {"nc[threshold=0]", "nc[threshold=0.25]", "nc[threshold=0.5]", "nc[threshold=0.75]"}}},
          {{"deepgauge",
            "Ma et al., ASE 2018: multi-granularity criteria",
            {"kmnc[sections=1000]", "kmnc[sections=10000]", "nbc", "nbc[widen=0.5]", "nbc[widen=1]", "snac",
             "snac[widen=0.5]", "snac[widen=1]", "tknc[k=1]", "tknc[k=2]", "tknc[k=3]", "tknp[k=1]",
             "tknp[k=2]", "tknp[k=3]"}}},
          {{"surprise",
            "Kim et al., ICSE 2019: surprise coverage by likelihood and by distance",
            {"lsc[upper=2000,buckets=1000]", "dsc[upper=2,buckets=1000]"}}},
          {{"audit",
            "every criterion that covers items, with the options that studies vary",
            {"idc[m=6]",
             "idc[m=8]",
             "idc[m=10]",
             "tidc",
             "tidc[t=3]",
             "nc[threshold=0]",
             "nc[threshold=0.25]",
             "nc[threshold=0.5]",
             "nc[threshold=0.75]",
             "kmnc[sections=10]",
             "kmnc[sections=100]",
             "nbc",
             "snac",
             "qnc",
             "tknc[k=1]",
             "tknc[k=3]",
             "tknp[k=1]",
             "lsc",
             "dsc",
             "mdsc"}}},
          {{"all", "every criterion with its defaults, those of plug-ins included", {}},
           [](const CriterionInfo&) { return true; }},
          {{"fast",
            "every criterion that needs neither relevance nor surprise, and keeps no activations",
            {}},
           [](const CriterionInfo& info) {
             return info.needs <= CriterionInfo::Needs::quantiles && !info.keeps_activations;
           }},
      });
  return all;
}

}  // namespace assay::coverage

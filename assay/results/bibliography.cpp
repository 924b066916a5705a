#include "assay/results/bibliography.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include <assay/extend/criteria.h>
#include "assay/results/document.h"
#include "assay/support/text/text.h"

namespace assay::results {
namespace {

constexpr std::array<Paper, 9> papers{{
    {"Kuhn", "TSE 2004", "kuhn2004interactions", R"(@article{kuhn2004interactions,
  author  = {Kuhn, D. Richard and Wallace, Dolores R. and Gallo, Albert M.},
  title   = {Software Fault Interactions and Implications for Software Testing},
  journal = {IEEE Transactions on Software Engineering},
  volume  = {30},
  number  = {6},
  pages   = {418--421},
  year    = {2004},
  doi     = {10.1109/TSE.2004.24}
})"},
    {"Pei", "SOSP 2017", "pei2017deepxplore", R"(@inproceedings{pei2017deepxplore,
  author    = {Pei, Kexin and Cao, Yinzhi and Yang, Junfeng and Jana, Suman},
  title     = {{DeepXplore}: Automated Whitebox Testing of Deep Learning Systems},
  booktitle = {Proceedings of the 26th Symposium on Operating Systems Principles (SOSP)},
  pages     = {1--18},
  year      = {2017},
  doi       = {10.1145/3132747.3132785}
})"},
    {"Ma", "ASE 2018", "ma2018deepgauge", R"(@inproceedings{ma2018deepgauge,
  author    = {Ma, Lei and Juefei-Xu, Felix and Zhang, Fuyuan and Sun, Jiyuan and Xue, Minhui and Li, Bo and
               Chen, Chunyang and Su, Ting and Li, Li and Liu, Yang and Zhao, Jianjun and Wang, Yadong},
  title     = {{DeepGauge}: Multi-Granularity Testing Criteria for Deep Learning Systems},
  booktitle = {Proceedings of the 33rd ACM/IEEE International Conference on Automated Software Engineering (ASE)},
  pages     = {120--131},
  year      = {2018},
  doi       = {10.1145/3238147.3238202}
})"},
    {"Sun", "arXiv:1803.04792", "sun2018testing", R"(@misc{sun2018testing,
  author        = {Sun, Youcheng and Huang, Xiaowei and Kroening, Daniel and Sharp, James and Hill, Matthew and
                   Ashmore, Rob},
  title         = {Testing Deep Neural Networks},
  year          = {2018},
  eprint        = {1803.04792},
  archiveprefix = {arXiv}
})"},
    {"Zhang", "arXiv:2602.02280", "zhang2026raca", R"(@misc{zhang2026raca,
  author        = {Zhang, Zhixin and Wei, Zeming and Wu, Chengcan and Zhang, Yihao and Luan, Xiaokun and Sun, Meng},
  title         = {{RACA}: Representation-Aware Coverage Criteria for {LLM} Safety Testing},
  year          = {2026},
  eprint        = {2602.02280},
  archiveprefix = {arXiv}
})"},
    {"Kim", "ICSE 2019", "kim2019surprise", R"(@inproceedings{kim2019surprise,
  author    = {Kim, Jinhan and Feldt, Robert and Yoo, Shin},
  title     = {Guiding Deep Learning System Testing Using Surprise Adequacy},
  booktitle = {Proceedings of the 41st International Conference on Software Engineering (ICSE)},
  pages     = {1039--1049},
  year      = {2019},
  doi       = {10.1109/ICSE.2019.00108}
})"},
    {"Gerasimou", "ICSE 2020", "gerasimou2020importance", R"(@inproceedings{gerasimou2020importance,
  author    = {Gerasimou, Simos and Eniser, Hasan Ferit and Sen, Alper and Cakan, Alper},
  title     = {Importance-Driven Deep Learning System Testing},
  booktitle = {Proceedings of the ACM/IEEE 42nd International Conference on Software Engineering (ICSE)},
  pages     = {702--713},
  year      = {2020},
  doi       = {10.1145/3377811.3380391}
})"},
    {"Kim", "FSE 2020", "kim2020labelling", R"(@inproceedings{kim2020labelling,
  author    = {Kim, Jinhan and Ju, Jeongil and Feldt, Robert and Yoo, Shin},
  title     = {Reducing {DNN} Labelling Cost using Surprise Adequacy: An Industrial Case Study for Autonomous Driving},
  booktitle = {Proceedings of the 28th ACM Joint Meeting on European Software Engineering Conference and Symposium on
               the Foundations of Software Engineering (ESEC/FSE)},
  pages     = {1466--1476},
  year      = {2020},
  doi       = {10.1145/3368089.3417065}
})"},
    {"Yuan", "ICSE 2023", "yuan2023revisiting", R"(@inproceedings{yuan2023revisiting,
  author    = {Yuan, Yuanyuan and Pang, Qi and Wang, Shuai},
  title     = {Revisiting Neuron Coverage for {DNN} Testing: A Layer-Wise and Distribution-Aware Criterion},
  booktitle = {Proceedings of the IEEE/ACM 45th International Conference on Software Engineering (ICSE)},
  pages     = {1200--1212},
  year      = {2023},
  doi       = {10.1109/ICSE48619.2023.00107}
})"},
}};

std::vector<coverage::CriterionInfo> criteria_named(const std::string& name) {
  if (!name.empty()) return {coverage::criteria().find(name)};
  return {coverage::criteria().begin(), coverage::criteria().end()};
}

}  // namespace

std::vector<const Paper*> papers_named(std::string_view text) {
  std::vector<const Paper*> found;
  for (const Paper& paper : papers) {
    if (text.find(paper.author) != std::string_view::npos &&
        text.find(paper.published) != std::string_view::npos)
      found.push_back(&paper);
  }
  return found;
}

report::Document cite_criteria(const std::string& name) {
  report::Document document;
  std::map<const Paper*, std::vector<std::string>> criteria;  // in the order of the table above
  for (const coverage::CriterionInfo& info : criteria_named(name)) {
    const std::vector<const Paper*> named = papers_named(info.paper);
    for (const Paper* paper : named) criteria[paper].push_back(info.name);
    if (named.empty()) document.notices.push_back(fmt::format("no entry for {}: {}", info.name, info.paper));
  }
  document.headline = fmt::format("{} papers of {}", criteria.size(), name.empty() ? "all criteria" : name);
  document.tables = {table_of("papers", "Papers", criteria,
                              {{"key", [](auto& entry) { return entry.first->key; }},
                               {"criteria", [](auto& entry) { return joined(entry.second); }},
                               {"entry", "BibTeX", [](auto& entry) { return entry.first->entry; }}})};
  return document;
}

std::string to_bibtex(const report::Document& papers) {
  std::string text;
  for (const std::vector<report::Cell>& row : papers.tables.at(0).rows)
    text += fmt::format("% {}\n{}\n\n", std::get<std::string>(row[1]), std::get<std::string>(row[2]));
  for (const Message& notice : papers.notices) text += fmt::format("% {}\n", notice.text());
  return text;
}

}  // namespace assay::results

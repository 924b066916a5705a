#pragma once

// Networks in memory under names that stand where the file of a network is named: read_model("@net"), and so
// `--model @net` of a question (assay/question.h).

#include <string>

#include <assay/graph.h>

namespace assay {

// The name means this network as long as the object lives. Thread-safe. Throws Error{usage} for a name that
// is taken, empty, or holds anything but letters, digits, `_` and `-`.
class NamedNetwork {
 public:
  NamedNetwork(std::string name, Graph graph);
  ~NamedNetwork();
  NamedNetwork(const NamedNetwork&) = delete;
  NamedNetwork& operator=(const NamedNetwork&) = delete;

 private:
  std::string name_;
};

}  // namespace assay

#include <assay/model.h>

#include "assay/model/named.h"
#include "assay/support/text/named.h"

namespace assay::inline model {
namespace {

NamedObjects<Graph>& named_networks() {
  static NamedObjects<Graph> all("network");
  return all;
}

}  // namespace

NamedNetwork::NamedNetwork(std::string name, Graph graph) : name_(std::move(name)) {
  named_networks().add(name_, std::move(graph));
}

NamedNetwork::~NamedNetwork() { named_networks().remove(name_); }

Graph find_named_network(const std::string& text) { return named_networks().find(text); }

}  // namespace assay::inline model

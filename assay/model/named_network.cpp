#include <assay/model.h>

#include <utility>

#include "assay/model/named.h"
#include "assay/support/text/named.h"

namespace assay::inline model {
namespace {

struct NetworkInMemory {
  Graph graph;
  std::string folder;
};

NamedObjects<NetworkInMemory>& named_networks() {
  static NamedObjects<NetworkInMemory> all("network");
  return all;
}

}  // namespace

NamedNetwork::NamedNetwork(std::string name, Graph graph, std::string folder) : name_(std::move(name)) {
  named_networks().add(name_, {std::move(graph), std::move(folder)});
}

NamedNetwork::~NamedNetwork() { named_networks().remove(name_); }

Graph find_named_network(const std::string& text) { return named_networks().find(text).graph; }

std::string folder_of_named_network(const std::string& text) { return named_networks().find(text).folder; }

}  // namespace assay::inline model

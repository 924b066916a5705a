// Documents of several records, of which probes learn from all or none.

#include <gtest/gtest.h>

#include <cmath>

#include <assay/error.h>
#include <assay/progress.h>
#include <assay/records.h>
#include "tests/inspection/networks.h"

namespace assay::inspection {
namespace {

using namespace testing_networks;

constexpr std::int64_t documents = 60, records_each = 4;

// [N, documents] -> dense, that is the identity -> two scores.
Graph identity_network() {
  GraphBuilder b("documents");
  RandomWeights w(b);
  std::vector<float> diagonal(static_cast<std::size_t>(documents * documents));
  for (std::size_t d = 0; d < static_cast<std::size_t>(documents); ++d) diagonal[d * (documents + 1)] = 1;
  const ValueId x = b.input("x", DType::float32, {-1, documents});
  const ValueId same =
      b.add("MatMul", "given", {x, b.constant("same", Array::of<float>({documents, documents}, diagonal))});
  b.output(b.add("MatMul", "scores", {same, w("head", {documents, 2})}));
  return b.build();
}

// Record r is of document r modulo their number, which is all that it tells; labels are drawn by document.
DatasetPtr parts_of_documents() {
  const std::int64_t count = documents * records_each;
  std::vector<float> x(static_cast<std::size_t>(count * documents));
  std::vector<std::int64_t> labels, of_document(static_cast<std::size_t>(documents));
  Rng rng(5);
  for (std::size_t d = 0; d < of_document.size(); ++d) of_document[d] = static_cast<std::int64_t>(d % 2);
  rng.shuffle(of_document);
  Characteristic article{.name = "article", .values = {}};
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int64_t document = r % documents;
    x[static_cast<std::size_t>(r * documents + document)] = 4;
    labels.push_back(of_document[static_cast<std::size_t>(document)]);
    article.values.push_back(document == 0 ? "" : "d" + std::to_string(document));
  }
  return characterised(from_arrays(Array::of<float>({count, documents}, x), labels), {article});
}

double accuracy_by(const std::string& characteristic, std::size_t permutations = 0) {
  const auto network = std::make_shared<const Session>(identity_network());
  InspectOptions options{.measures = {"logistic_l2[score=accuracy,held_out=0.3]"},
                         .stop_early = false,
                         .permutations = permutations,
                         .documents = characteristic};
  const Inspection seen = inspect({{"net", network}}, {{.name = "given", .layer = "given"}},
                                  parts_of_documents(), {"label"}, options, silence());
  for (const ScoreRow& row : seen.rows)
    if (!row.unit && row.hypothesis == "label:0") return row.score.value;
  return std::nan("");
}

TEST(DocumentsOfRecords, AreHeldOutAsAWhole) {
  EXPECT_GT(accuracy_by(""), 0.9) << "labels of documents are known by heart from their other records";
  EXPECT_LT(accuracy_by("article"), 0.75) << "nothing tells the label of a document that was not seen";
}

std::string refusal_of(const std::string& characteristic, std::size_t permutations) {
  try {
    accuracy_by(characteristic, permutations);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(DocumentsOfRecords, AreNamedByACharacteristicAndNotPermuted) {
  EXPECT_NE(refusal_of("artcle", 0).find("the data have no characteristic 'artcle', but article"),
            std::string::npos);
  EXPECT_NE(refusal_of("article", 9).find("documents and permutations do not go together"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::inspection

#include <assay/extend/hypothesis.h>

namespace assay::inspection {

// One line for each: NAME_annotator() is defined in hypotheses/NAME.cpp.
#define ASSAY_ANNOTATORS(X) \
  X(label)                  \
  X(items)                  \
  X(grammar) X(regex) X(keywords) X(fsm) X(counter) X(column) X(array) X(conll) X(mask) X(units) X(program)

#define DECLARE(name) AnnotatorInfo name##_annotator();
ASSAY_ANNOTATORS(DECLARE)
#undef DECLARE
#define LIST(name) name##_annotator(),

Catalogue<AnnotatorInfo>& annotators() {
  static Catalogue<AnnotatorInfo> all({"hypothesis", "`assay hypotheses` explains them"},
                                      {ASSAY_ANNOTATORS(LIST)});
  return all;
}
#undef LIST

AnnotatorChoice annotator_choice(const std::string& text) {
  for (const AnnotatorInfo& info : annotators()) {
    for (const std::string& ending : info.endings) {
      if (text.ends_with(ending) && text.find('[') == std::string::npos)
        return AnnotatorChoice(Spec{info.name, {{"file", text}}});
    }
  }
  return AnnotatorChoice(text);
}

std::shared_ptr<const Annotator> make_annotator(const AnnotatorChoice& choice, const DatasetPtr& dataset,
                                                const SessionOptions& session) {
  if (choice.object()) return choice.object();
  const AnnotatorInfo& info = annotators().find(choice.spec().name);
  const SpecOptions options("hypothesis", choice.spec(), info.options);
  return info.make({choice.spec(), options, dataset, session});
}

}  // namespace assay::inspection

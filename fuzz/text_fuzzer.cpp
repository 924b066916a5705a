// What people and files write as text: specs, gates, CBOR of states and profiles, XML of annotations, and how
// any text is shown.
// The first byte chooses.

#include <cstdint>
#include <cstdlib>
#include <iostream>

#include <assay/error.h>
#include <assay/extend/spec.h>
#include <assay/gate.h>
#include "assay/data/files/xml.h"
#include "assay/data/spec.h"
#include "assay/report/escape.h"
#include "assay/support/files/binary.h"
#include "assay/support/text/characters.h"
#include "assay/support/text/visible.h"
#include "seeds.h"

namespace {

std::vector<std::string> seeds() {
  return {"0pgd[eps=0.1,starts=3]",
          "1kmnc[layer=\"a,b\",class=3]>=60%",
          "2set.npz,x=images,range=0:1,labels=t.csv[10:20][::2]",
          "3" + assay::to_bytes({{"schema", "assay/coverage"}, {"parts", {1, 2.5, "x", nullptr}}}),
          "4=1+1 \x1b[2J \xE2\x80\xAE\n",
          "5<a b='c'><!-- d --><e>&lt;&#65;</e><![CDATA[f]]></a>"};
}

void require(bool holds, const char* what) {
  if (holds) return;
  std::cerr << what << "\n";
  std::abort();
}

void show(std::string_view text) {
  const std::string shown = assay::visible(text);
  require(assay::visible(shown) == shown, "what is shown is shown as it is");
  require(assay::character_codes(shown).has_value(), "what is shown is UTF-8");
  for (const char c : shown)
    require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7F, "a control character");
  const std::string field = assay::csv_field(text), inner = field.starts_with('"') ? field.substr(1) : field;
  require(inner.empty() || std::string_view("=+-@").find(inner[0]) == std::string_view::npos, "a formula");
  assay::report::xml_escaped(text);
  assay::report::markdown_escaped(text);
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  assay::fuzz::write_seeds_if_asked(seeds());
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  try {
    switch (data[0] % 6) {
      case 3:
        assay::from_bytes(text);
        break;
      case 0:
        assay::parse_spec("attack", text);
        break;
      case 1:
        assay::report::evaluate(assay::report::parse_gate(text), {});
        break;
      case 2:
        assay::parse_spec(text);
        break;
      case 5:
        assay::parse_xml(text, "file");
        break;
      default:
        show(text);
    }
  } catch (const assay::Error&) {
  } catch (const std::runtime_error&) {
    require(data[0] % 6 == 3, "only damaged CBOR is a plain exception");
  }
  return 0;
}

#include "assay/answers/networks/network.h"

#include <algorithm>

#include <assay/error.h>
#include <assay/model.h>
#include "assay/engine/layers/unit_views.h"
#include "assay/support/text/parse.h"

namespace assay::answers {

Graph read_network(const std::string& file, Progress& progress) {
  Graph graph = read_model(file);
  for (const std::string& notice : graph.notices()) progress.notice(notice);
  return graph;
}

void take_record_shapes(SessionOptions& options, const std::string& text, const Message& name) {
  constexpr std::string_view example = "3x32x32";
  if (text.find('=') == std::string::npos) {
    options.record_shape = parse_positive(text, 'x', name, example);
    return;
  }
  for (const std::string& part : parts_of(text, ",")) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos)
      fail(Fault::usage, "{} '{}': each of several inputs needs its name, as in picture=3x32x32,table=7",
           name, text);
    options.record_shapes[part.substr(0, equals)] =
        parse_positive(std::string_view(part).substr(equals + 1), 'x', name, example);
  }
}

void require_views_count(const Session& session, const AdaptOptions& adaptation,
                         std::span<const std::string> layers) {
  if (adaptation.views.empty() || layers.empty()) return;
  const std::vector<Layer> views = unit_view_layers(session);
  const auto is_view = [&](const std::string& name) {
    return std::ranges::find(views, session.layer(name).value, &Layer::value) != views.end();
  };
  if (std::ranges::none_of(layers, is_view))
    fail(Fault::usage,
         "{} has no effect where other layers are named, and none of the views is; leave it out",
         About{"a view", "{view}"});
}

Session open_network(const std::string& file, const ReadingOptions& reading, const Setting& setting,
                     const Dataset* data, Progress& progress) {
  SessionOptions options = setting.session_for(data);
  if (!reading.input_shape.empty())
    take_record_shapes(options, reading.input_shape, message("{}", About{"input shape", "{input-shape}"}));
  AdaptedNetwork network =
      adapted(read_network(file, progress), adapt_options_of(reading.adaptation, file), data, progress);
  return session_of(network, options, data, progress);
}

}  // namespace assay::answers

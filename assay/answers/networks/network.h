#pragma once

// A network from its file, and the options of its session.

#include <span>
#include <string>

#include <assay/graph.h>
#include <assay/message.h>
#include <assay/progress.h>
#include <assay/session.h>
#include "assay/answers/setting.h"
#include "assay/engine/preparation/adaptation.h"

namespace assay::answers {

// What its file is noticed for is told.
Graph read_network(const std::string& file, Progress& progress);

// "3x32x32" of the records, or "picture=3x32x32,table=7" of several inputs. `name`: what the text is called
// in messages. Throws Error{usage}.
void take_record_shapes(SessionOptions& options, const std::string& text, const Message& name);

// Throws Error{usage} where views are requested, and layers, of which none is a view.
void require_views_count(const Session& session, const AdaptOptions& adaptation,
                         std::span<const std::string> layers);

// How a network is read, for others that are to be read in the same way.
struct ReadingOptions {
  AdaptOptions adaptation = {};
  std::string input_shape = {};  // as take_record_shapes() takes it; empty: what network and data tell
};

// `data` (may be null) tells the record shape of dynamic inputs.
Session open_network(const std::string& file, const ReadingOptions& reading, const Setting& setting,
                     const Dataset* data, Progress& progress);

}  // namespace assay::answers

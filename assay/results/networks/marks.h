#pragma once

// Items drawn over pictures of records.

#include <string>
#include <vector>

#include <assay/extend/judgement.h>
#include <assay/report.h>
#include "assay/data/files/image.h"

namespace assay::results {

// Where a record's picture lies in a larger one, and how often each of its pixels is repeated.
struct Panel {
  int left = 0, width = 0, height = 0, zoom = 1;  // width and height in pixels of the record
};

// Frames two pixels wide, and cells that let the picture through by half, each class in a separate colour.
// What is outside of the panel is left out. REQUIRES three channels.
void draw_marks(Image& image, const Panel& panel, const task::Marks& marks);

// Names the colours of the classes that occur in these marks: rows of the table `colours` of the document,
// one for each class, which pages show as the legend of the pictures.
void name_colours(report::Document& document, const task::Marks& marks,
                  const std::vector<std::string>& class_names);

}  // namespace assay::results

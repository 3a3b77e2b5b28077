// How a picture of a film or a still differs from the window.
#pragma once

#include <string>
#include <vector>

namespace attn::viz {

struct PictureView {
  bool alone = false;       // the maximised panel and nothing else; in mode present the caption too
  float margin = 0.0F;      // of pixels at scale 1, around a panel alone
  float caption_px = 0.0F;  // how large the letters of the caption are about, pixels; 0: as the mode has them
  float cells = 1.0F;       // how many times as large as in a window the cells of mask and weights may become
  bool still = false;       // nothing to press: no menus, no buttons of the header
  bool no_caption = false;  // of mode present
  bool clear = false;       // nothing is painted behind and between the panels
  bool question = false;    // the caption asks: it stands alone, what is seen is hidden
  std::vector<std::string> ringed = {};   // marks to point at: "pool/block/3"
  std::string title = {};                 // in the place of the run's name; "" = that one
  std::string caption = {};               // in the place of the step's sentence; "" = that one
  std::vector<std::string> choices = {};  // of the question: the answers to pick from
  std::string provenance = {};  // small line at the lower right: where the numbers come from; "" = none
};

}  // namespace attn::viz

// What a still is drawn of: a place of a run, or a stop of a lesson, seen as the options say.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/opening.h"
#include "app/session.h"
#include "app/view_names.h"

namespace attn::app {

struct StillOptions {
  std::string file;
  std::string output;
  std::string size = "1600x900";
  std::string theme = "dark";
  std::string device = "auto";
  std::vector<std::string> overrides;
  float scale = 1.0F;
  viz::ScreenMode mode = viz::ScreenMode::explore;
  viz::StageView stage = viz::StageView::weights;
  viz::SideView side = viz::SideView::stages;
  viz::WeightScale weights = viz::WeightScale::linear;
  bool compare = false;
  std::string bench;
  std::string panel;
  int scale_out = 1;
  bool transparent = false;
  bool provenance = false;
  bool ask = false;  // of a stop with a question: before it is answered
  int page = 0;      // from 1; 0: the one that the stop asks for, else the first
  int frames = 12;
};

struct Scene {
  /// Throws InputError for whatever of the options does not fit what is to be seen.
  explicit Scene(const StillOptions& options);

  std::pair<int, int> size;  // pixels of the picture
  viz::ViewState view;
  DeviceChoice choice;
  Subject subject;
  Session session;
  std::string source;  // of its numbers

 private:
  void go_to_stop(bool ask);
  void keep_views_asked_for(const viz::ViewState& asked);
  void cut_out_panel(viz::PanelId id);
};

}  // namespace attn::app

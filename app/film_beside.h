// A film made by this program run a second time: Dear ImGui has one context for a process, and the window is
// in it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "app/job.h"
#include "kernels/device.h"

namespace attn::app {

struct FilmOrder {
  std::filesystem::path program;  // "" = this one
  std::filesystem::path scenario;
  std::filesystem::path output;
  std::string size;  // as --size takes it
  DeviceChoice device = DeviceChoice::automatic;
};

/// One sentence: where the film is, or why there is none.
struct FilmOutcome {
  bool made = false;
  std::string text;
};

/// Blocks until the film is there, or `control` says stop. `what` gets what is being done: "filming".
FilmOutcome film_beside(const FilmOrder& order, const std::function<void(std::string what)>& what,
                        Job::Control& control);

}  // namespace attn::app

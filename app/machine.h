// What the bench measured on this machine, for the viewer's roofline.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "viz/machine_view.h"

namespace attn::app {

struct Machine {
  std::shared_ptr<const viz::MachineView> view;  // null: nothing was measured
  std::string note;                              // why, when there is a file all the same
};

/// A report of `attnscope bench`: `given` when the user named one, else the one that the last whole run kept.
/// One that was named must be there and whole: throws InputError. A kept one that is not is a note.
Machine read_machine(const std::filesystem::path& given);

}  // namespace attn::app

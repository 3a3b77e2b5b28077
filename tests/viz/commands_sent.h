// What a frame sent to the engine.
#pragma once

#include <gtest/gtest.h>

#include "viz/screen.h"

namespace attn::viz {

/// The command that was sent: null unless it is of that kind; another beside it, or none, is a failure.
inline const Command* only_command(const Commands& commands, Command::Kind kind) {
  EXPECT_EQ(commands.size(), 1U);
  return commands.size() == 1 && commands[0].kind == kind ? &commands[0] : nullptr;
}

}  // namespace attn::viz

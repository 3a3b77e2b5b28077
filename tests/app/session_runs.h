// A session on a scenario of the emulator, as a test drives it: every command is carried out to its end.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/session.h"
#include "tests/app/program.h"
#include "tests/app/user.h"

namespace attn::app {

class SessionRuns : public ::testing::Test {
 protected:
  SessionRuns() { open({}); }
  void open(const std::vector<std::string>& sets) {
    session_ = std::make_unique<Session>(testing::scenario_subject(sets), DeviceChoice::simt, [] {});
    session_->wait_idle();
  }
  void send(viz::Command command) {
    session_->apply(viz::Commands{std::move(command)}, view_);
    session_->wait_idle();
  }
  void send(viz::Command::Kind kind, int a = 0, std::string text = {}, std::string value = {}) {
    send(testing::command_of(kind, a, std::move(text), std::move(value)));
  }
  void run_to(trace::ConditionKind kind, int by, int a = -1) {
    viz::Command command;
    command.kind = viz::Command::Kind::run_to;
    command.a = by;
    command.condition = {.kind = kind, .a = a, .x = 0.0};
    send(std::move(command));
  }
  void run_to_the_end() {
    while (session_->frame().engine_has_work) send(viz::Command::Kind::step_forward);
  }
  const viz::Frame& frame() { return session_->frame(); }

  viz::ViewState view_;
  std::unique_ptr<Session> session_;
};

}  // namespace attn::app

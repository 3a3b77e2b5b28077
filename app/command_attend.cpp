// `attend CASE`: one attention kernel on the user's own tensors.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "app/commands.h"
#include "app/output_file.h"
#include "core/trace/tensor_case.h"

namespace attn::app {
namespace {

struct AttendCommand {
  std::string tensors;
  std::string output;
  std::string op;
  std::string device = "auto";
  trace::AttendOptions options;
};

int run_attend(AttendCommand& command) {
  require_writable(command.output);
  command.options.op = command.op == "prefill" ? trace::AttendOp::prefill : trace::AttendOp::decode;
  const trace::TensorCase tensors = trace::load_tensor_case(command.tensors);
  const DevicePick pick = make_device(device_choice(command.device));
  if (!pick.note.empty()) fmt::print(stderr, "attnscope: {}\n", pick.note);
  const trace::AttendResult result = trace::attend(*pick.device, tensors, command.options);
  trace::write_attend_result(command.output, result);
  fmt::print("o [{}], lse [{}]{} on {}: {}\n", fmt::join(result.o.shape, ", "),
             fmt::join(result.lse.shape, ", "),
             result.weights ? fmt::format(", weights [{}]", fmt::join(result.weights->shape, ", ")) : "",
             pick.device->name(), command.output);
  return 0;
}

}  // namespace

void add_attend_command(CLI::App& app, Action& action) {
  auto* command = app.add_subcommand("attend", "run one attention kernel on your own tensors (safetensors)");
  auto state = std::make_shared<AttendCommand>();
  command
      ->add_option("case", state->tensors,
                   "q, k, v or k_cache, v_cache, block_tables, lengths (.safetensors)")
      ->required();
  command->add_option("--op", state->op, "prefill or decode")
      ->required()
      ->check(CLI::IsMember({"prefill", "decode"}));
  command->add_option("--path", state->options.path,
                      "prefill: packed, paged, gather_flatten; decode: paged, gather_masked, gather_padded");
  command
      ->add_option("--level", state->options.level,
                   "kernel level: 1 naive, 2 tiled, 3 tensor cores (F16, BF16), 4 Hopper (prefill)")
      ->capture_default_str();
  command->add_option("--mask", state->options.mask, "bottom_right, top_left or none");
  command->add_flag("--weights", state->options.weights, "also write the softmax weights");
  command->add_option("-o,--output", state->output, "o, lse (and weights) go here (.safetensors)")
      ->required();
  add_device_option(*command, state->device);
  command->callback([state, &action] { action = [state] { return run_attend(*state); }; });
}

}  // namespace attn::app

// Options that several subcommands share.
#include "app/commands.h"

namespace attn::app {

void add_device_option(CLI::App& command, std::string& name) {
  command.add_option("--device", name, "where kernels run: auto, cuda or simt (the emulator)")
      ->check(CLI::IsMember({"auto", "cuda", "simt"}))
      ->capture_default_str();
}

void add_set_option(CLI::App& command, std::vector<std::string>& overrides) {
  command.add_option("--set", overrides, "change a value of the scenario: engine.block_size=4")
      ->expected(1)
      ->take_all();
}

void add_report_option(CLI::App& command, std::string& file) {
  command.add_option("--bench", file,
                     "report of `attnscope bench` for the roofline; default: the one it kept");
}

DeviceChoice device_choice(const std::string& name) {
  if (name == "cuda") return DeviceChoice::cuda;
  return name == "simt" ? DeviceChoice::simt : DeviceChoice::automatic;
}

void add_theme_option(CLI::App& command, std::string& theme) {
  command.add_option("--theme", theme, "dark, light, contrast or print")
      ->check(CLI::IsMember({"dark", "light", "contrast", "print"}))
      ->default_str(theme.empty() ? "the one used last" : theme);
}

}  // namespace attn::app

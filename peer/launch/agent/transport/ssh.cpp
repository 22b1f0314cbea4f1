#include "peer/launch/agent/transport/ssh.h"

#include <cstdlib>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "peer/launch/process/process.h"

namespace gv {
namespace {

/// Returns ssh, or GRAPEVINE_SSH split at spaces.
std::vector<std::string> ssh_program() {
  const char* own = std::getenv("GRAPEVINE_SSH");
  std::istringstream in(own != nullptr && *own != '\0' ? own : "ssh");
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Returns an agent's options: numbers, letters and digits, nothing that a shell would interpret.
std::string options(const AgentWords& words) {
  return fmt::format("--nonce {} --run {} --leash {:.3f} --grace {:.3f}", words.nonce, words.run,
                     words.leash_seconds, words.grace_seconds);
}

std::vector<std::string> with_options(std::vector<std::string> argv, const AgentWords& words) {
  std::istringstream in(options(words));
  for (std::string word; in >> word;) argv.push_back(word);
  return argv;
}

/// Script for `sh -c`, for any login shell of the user: a single line without quotes of its own and
/// without an exclamation mark. Our own program would die of an illegal instruction if the
/// processor is too old (cmake/GvTarget.cmake), so the shell checks first.
constexpr const char* pushing =
    "say() {{ echo grapevine-agent $1 {nonce} $2; }}; "
    "m=$(uname -m); case $m in {kinds} *) say no \"this program is for {own} and the machine is "
    "$m: "
    "pack one on such a machine with grapevine bundle and put its file into .local/share/grapevine "
    "of your home, or "
    "install one there and name it as binary\"; exit 3;; esac; "
    "test $m != x86_64 || for f in avx2 bmi2 fma f16c movbe; do grep -qw $f /proc/cpuinfo || {{ "
    "say "
    "no \"its processor has no $f, which this program needs\"; exit 3; }}; done; "
    "d=${{XDG_CACHE_HOME:-$HOME/.cache}}/grapevine/programs/$b; umask 077; "
    "test -x $d/grapevine || {{ mkdir -p $d.$$ && say send $m && head -c $n | tar -xzf - -C "
    "$d.$$ && mv -T $d.$$ $d; rm -rf $d.$$; }}; "
    "test -x $d/grapevine || {{ say no \"the program could not be unpacked in $d: is the disk "
    "full?\"; exit 3; }}; "
    "LD_LIBRARY_PATH=$d${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}; export LD_LIBRARY_PATH; "
    "exec $d/grapevine agent {options}";

/// Returns whether no program takes the text for an option, and no shell for more than a word.
bool is_word(const std::string& text) {
  constexpr std::size_t most = 120;
  return !text.empty() && text.size() <= most && text.front() != '-' &&
         text.find_first_not_of(
             "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-") == text.npos;
}

std::string kinds_of(std::span<const Bundle> bundles) {
  std::string kinds;
  for (const Bundle& bundle : bundles)
    kinds += fmt::format("{}) b={}; n={};; ", bundle.processor, bundle.name, bundle.bytes);
  return kinds;
}

}  // namespace

std::vector<std::string> ssh_argv(const std::string& target, const std::string& script) {
  std::vector<std::string> argv = ssh_program();
  for (const char* option : {"BatchMode=yes", "ConnectTimeout=10", "ServerAliveInterval=5"})
    argv.insert(argv.end(), {"-o", option});
  argv.insert(argv.end(), {"-T", "--", target, script});
  return argv;
}

std::vector<std::string> agent_argv(const std::string& program, const AgentWords& words) {
  return with_options({program, "agent"}, words);
}

bool has_lobby() {
  const char* socket = std::getenv(lobby_variable);
  return socket != nullptr && *socket != '\0';
}

std::vector<std::string> lobby_argv(const std::string& program,
                                    const std::string& machine,
                                    const AgentWords& words,
                                    bool waits) {
  std::vector<std::string> argv{program, "lobby-link", "--host", machine};
  if (waits) argv.emplace_back("--wait");
  return with_options(argv, words);
}

Json agent_order(const AgentWords& words) {
  return Json{{"nonce", words.nonce},
              {"run", words.run},
              {"leash", words.leash_seconds},
              {"grace", words.grace_seconds}};
}

AgentWords parse_agent_order(const JsonValue& order) {
  AgentWords words{.nonce = json_text(order, "nonce"),
                   .run = json_text(order, "run"),
                   .leash_seconds = json_number(order, "leash"),
                   .grace_seconds = json_number(order, "grace")};
  const auto within = [](double value, double most) { return value >= 0 && value <= most; };
  if (!is_word(words.nonce) || !is_word(words.run) || !within(words.leash_seconds, 1e9) ||
      !within(words.grace_seconds, 1e6))
    throw std::runtime_error("an order for an agent that no launcher writes");
  return words;
}

std::vector<std::string> ssh_installed(const std::string& target,
                                       const std::string& program,
                                       const AgentWords& words) {
  return ssh_argv(target, fmt::format("exec {} agent {}", program, options(words)));
}

std::vector<std::string> ssh_pushed(const std::string& target,
                                    std::span<const Bundle> bundles,
                                    const AgentWords& words) {
  const std::string script = fmt::format(
      fmt::runtime(pushing), fmt::arg("nonce", words.nonce), fmt::arg("kinds", kinds_of(bundles)),
      fmt::arg("own", bundles.front().processor), fmt::arg("options", options(words)));
  return ssh_argv(target, fmt::format("exec sh -c '{}'", script));
}

std::string ssh_host_name(const std::string& target) {
  std::vector<std::string> argv = ssh_program();
  argv.insert(argv.end(), {"-G", "--", target});
  Child process(argv);
  constexpr std::string_view key = "hostname ";
  std::string name = target;
  const auto take = [&](const std::string& line) {
    if (line.starts_with(key)) name = line.substr(key.size());
  };
  hear_out(process, take, [](const std::string&) {});
  return name;
}

}  // namespace gv

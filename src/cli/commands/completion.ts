import { ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { type CommandDefinition, defineCommand } from "../define-command.ts";
import { completionScript, type NamedCommand, type Shell } from "../text/completion.ts";

const SHELLS = ["bash", "zsh", "fish"] as const satisfies Shell[];

/** The command that completes the commands of a table, itself among them. */
export function completionOf(loadAll: () => Promise<readonly NamedCommand[]>): CommandDefinition {
  return defineCommand({
    usage: "bash|zsh|fish",
    operands: [1, 1],
    options: { help: { type: "boolean", summary: "this text" } },
    examples: [
      { line: "completion bash > ~/.local/share/bash-completion/completions/zarrflow", says: "for bash" },
      { line: "completion zsh > ~/.zfunc/_zarrflow", says: "for zsh, where ~/.zfunc is in fpath" },
      { line: "completion fish > ~/.config/fish/completions/zarrflow.fish", says: "for fish" },
    ],
    async run([name = ""], _values, terminal) {
      return terminal.write(completionScript(shellNamed(name), await loadAll()));
    },
  });
}

function shellNamed(name: string): Shell {
  const shell = SHELLS.find((known) => known === name);
  if (shell) return shell;
  const near = nearestName(name, SHELLS);
  throw new ZarrflowError("invalid-option", `\`${name}\` is not a supported shell`, {
    hint: near ? `Did you mean \`${near}\`?` : `The shells are ${SHELLS.join(", ")}.`,
  });
}

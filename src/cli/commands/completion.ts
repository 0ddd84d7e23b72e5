import { ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/names.ts";
import { belowPath, joinKey } from "../../util/node-path.ts";
import { type CommandDefinition, defineCommand } from "../parse-arguments.ts";
import { completionScript, type NamedCommand, type Shell } from "../text/completion.ts";

const SHELLS = ["bash", "zsh", "fish"] as const satisfies Shell[];

/** Defines the command that prints completion scripts for all commands, including itself. */
export function completionOf(loadAll: () => Promise<readonly NamedCommand[]>): CommandDefinition {
  return defineCommand({
    usage: "bash|zsh|fish",
    notes: [
      "Names inside stores are completed too: type `zarrflow info era5.zarr/` and press Tab to see its groups and",
      "arrays. The scripts call `zarrflow completion names URL`, which prints nothing if it finds nothing.",
    ],
    operands: [1, 2],
    options: { help: { type: "boolean", summary: "show this help" } },
    examples: [
      { line: "completion bash > ~/.local/share/bash-completion/completions/zarrflow", says: "for bash" },
      { line: "completion zsh > ~/.zfunc/_zarrflow", says: "for zsh, where ~/.zfunc is in fpath" },
      { line: "completion fish > ~/.config/fish/completions/zarrflow.fish", says: "for fish" },
    ],
    async run([name = "", url], _values, terminal) {
      if (name === "names" && url !== undefined) {
        const names = await namesInside(url);
        return terminal.write(names.map((each) => `${each}\n`).join(""));
      }
      if (url !== undefined) throw unexpected(url);
      return terminal.write(completionScript(shellNamed(name), await loadAll()));
    },
  });
}

function unexpected(operand: string): ZarrflowError {
  return new ZarrflowError("invalid-option", `unexpected operand \`${operand}\``, {
    hint: "Name one shell: bash, zsh or fish.",
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

/** Milliseconds that a shell waits for names at most. */
const TIMEOUT_MS = 2000;

/** Returns the URLs that complete a URL: arrays, and groups with a trailing `/`. None if nothing can be read. */
export async function namesInside(url: string, timeout = TIMEOUT_MS): Promise<string[]> {
  if (/^https?:.*\?/i.test(url)) return []; // a query ends a URL, and is a credential
  const parent = url.slice(0, url.lastIndexOf("/"));
  const names: string[] = [];
  try {
    const { closeOpened, openGroup } = await import("../../hierarchy/open/open.ts");
    const { children } = await import("../../hierarchy/open/walk.ts");
    const signal = AbortSignal.timeout(timeout);
    const group = await openGroup(parent, { signal });
    try {
      for await (const { kind, path } of children(group, { signal })) {
        const name = joinKey(parent, belowPath(group.path, path));
        if (name.startsWith(url)) names.push(kind === "group" ? `${name}/` : name);
      }
    } finally {
      await closeOpened(parent, group.store);
    }
  } catch {
    // A shell that completes a word has no use for an error.
  }
  return names;
}

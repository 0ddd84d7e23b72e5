import { ZarrflowError } from "../../util/errors.ts";
import { nearestName, shellQuoted } from "../../util/names.ts";
import { belowPath, joinKey } from "../../util/node-path.ts";
import { type CommandDefinition, type CommandWords, defineCommand, type Option } from "../parse-arguments.ts";

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

export type Shell = "bash" | "zsh" | "fish";

export type NamedCommand = readonly [name: string, command: CommandWords];

/** A script that completes commands, their flags and the values of flags in a shell. */
export function completionScript(shell: Shell, commands: readonly NamedCommand[]): string {
  return { bash, zsh, fish }[shell](commands);
}

function bash(commands: readonly NamedCommand[]): string {
  const flags = commands.map(([name, { options }]) => {
    const names = Object.entries(options).flatMap(([option, table]) => spellings(option, table));
    return `    ${name}) flags="${names.join(" ")}" ;;`;
  });
  const values = commands.flatMap(([name, { options }]) =>
    Object.entries(options)
      .filter(([, option]) => offered(option) && option.bare === undefined)
      .map(([option, table]) => `    "${name} --${option}") words="${offered(table)?.join(" ")}" ;;`),
  );
  return `# bash completion of zarrflow; load it with: source <(zarrflow completion bash)
_zarrflow() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  local flags="" words="" names="" scheme=""
  COMPREPLY=()
  # a colon begins a word of its own
  [[ "$previous" == : ]] && scheme="\${COMP_WORDS[COMP_CWORD-2]}:"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${namesOf(commands)}" -- "$current"))
    return
  fi
  case "$command" in
    help) words="${namesOf(commands)}" ;;
    completion) words="bash zsh fish" ;;
${flags.join("\n")}
  esac
  case "$command $previous" in
${values.join("\n")}
  esac
  if [ -n "$words" ]; then
    COMPREPLY=($(compgen -W "$words" -- "$current"))
  elif [[ "$current" == -* ]]; then
    COMPREPLY=($(compgen -W "$flags" -- "$current"))
  elif [[ "$current" =~ \\.(zarr|zip|ozx)/ ]] && names=$(zarrflow completion names "$scheme$current" 2>/dev/null) && [ -n "$names" ]; then
    local IFS=$'\\n'
    COMPREPLY=($names)
    COMPREPLY=("\${COMPREPLY[@]#"$scheme"}")
    [[ "$names" == */ ]] && compopt -o nospace 2>/dev/null
  else
    compopt -o filenames 2>/dev/null
    COMPREPLY=($(compgen -f -- "$current"))
  fi
}
complete -F _zarrflow zarrflow
`;
}

function zsh(commands: readonly NamedCommand[]): string {
  const summaries = commands.map(([name, { summary }]) => `    ${shellQuoted(`${name}:${summary}`)}`);
  const cases = commands.map(([name, { options }]) => {
    const specs = Object.entries(options).map(
      ([option, table]) => `        ${shellQuoted(zshSpec(option, table))}`,
    );
    return `      ${name})\n        _arguments \\\n${specs.join(" \\\n")} \\\n        '*: :${name === "completion" ? "(bash zsh fish)" : "_zarrflow_names"}'\n        ;;`;
  });
  return `#compdef zarrflow
# zsh completion of zarrflow; load it with: source <(zarrflow completion zsh)
_zarrflow_names() {
  local -a names
  if [[ "$PREFIX" =~ '\\.(zarr|zip|ozx)/' ]]; then
    names=(\${(f)"$(zarrflow completion names "\${(Q)PREFIX}" 2>/dev/null)"})
  fi
  if (( $#names )); then compadd -S '' -- $names; else _files; fi
}
_zarrflow() {
  local -a commands
  commands=(
${summaries.join("\n")}
    'help:show help for a command'
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command="\${words[2]}"
  shift words
  (( CURRENT-- ))
  case "$command" in
      help) _describe command commands ;;
${cases.join("\n")}
  esac
}
if [ "\${funcstack[1]}" = _zarrflow ]; then
  _zarrflow "$@"
else
  compdef _zarrflow zarrflow
fi
`;
}

/** The spellings of a flag: without a value, and with each value if values follow `=`. */
function spellings(name: string, { bare, choices = [] }: Option): string[] {
  const values = bare === undefined ? [] : choices.map((choice) => `--${name}=${choice}`);
  return [`--${name}`, ...values];
}

/** The values that a shell offers for a flag. */
function offered({ choices, suggestions }: Option): readonly string[] | undefined {
  return choices ?? suggestions;
}

function zshSpec(name: string, option: Option): string {
  const { type, bare, multiple, summary, value = "" } = option;
  const values = offered(option);
  const many = multiple ? "*" : "";
  const text = summary.replace(/[[\]:\\]/g, "\\$&");
  if (type === "boolean") return `${many}--${name}[${text}]`;
  const action = values ? `(${values.join(" ")})` : value.startsWith("FILE") ? "_files" : " ";
  if (bare !== undefined) return `${many}--${name}=-[${text}]::${value}:(${option.choices?.join(" ")})`;
  return `${many}--${name}[${text}]:${value.replace(/[:\\]/g, "\\$&")}:${action}`;
}

function fish(commands: readonly NamedCommand[]): string {
  const first = commands.map(
    ([name, { summary }]) =>
      `complete -c zarrflow -n __fish_use_subcommand -f -a ${name} -d ${shellQuoted(summary)}`,
  );
  const flags = commands.flatMap(([name, { options }]) =>
    Object.entries(options).map(([option, table]: [string, Option]) => {
      const { type, bare, summary, value } = table;
      const values = offered(table);
      const argument =
        bare !== undefined
          ? ` -f -a ${shellQuoted(table.choices?.join(" ") ?? "")}`
          : values
            ? ` -x -a ${shellQuoted(values.join(" "))}`
            : type === "string"
              ? value?.startsWith("FILE")
                ? " -r"
                : " -x"
              : "";
      return `complete -c zarrflow -n '__fish_seen_subcommand_from ${name}' -l ${option}${argument} -d ${shellQuoted(summary)}`;
    }),
  );
  return `# fish completion of zarrflow; load it with: zarrflow completion fish | source
${first.join("\n")}
complete -c zarrflow -n __fish_use_subcommand -f -a help -d 'show help for a command'
complete -c zarrflow -n '__fish_seen_subcommand_from help' -f -a ${shellQuoted(namesOf(commands))}
complete -c zarrflow -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
complete -c zarrflow -n 'string match -qr "\\.(zarr|zip|ozx)/" -- (commandline -ct)' -f -a '(zarrflow completion names (commandline -ct) 2>/dev/null)'
${flags.join("\n")}
`;
}

function namesOf(commands: readonly NamedCommand[]): string {
  return [...commands.map(([name]) => name), "help"].join(" ");
}

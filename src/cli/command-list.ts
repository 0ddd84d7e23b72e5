import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { Command } from "./define-command.ts";
import type { summaries } from "./summaries.ts";

/** Every command, loaded when it is used. */
const commands: Readonly<Record<keyof typeof summaries, () => Promise<{ readonly command: Command }>>> = {
  info: () => import("./commands/info.ts"),
  tree: () => import("./commands/tree.ts"),
  copy: () => import("./commands/copy.ts"),
  rechunk: () => import("./commands/rechunk.ts"),
  convert: () => import("./commands/convert.ts"),
  slice: () => import("./commands/slice.ts"),
  digest: () => import("./commands/digest.ts"),
  diff: () => import("./commands/diff.ts"),
  validate: () => import("./commands/validate.ts"),
  clean: () => import("./commands/clean.ts"),
  completion: async () => {
    const { completionOf } = await import("./commands/completion.ts");
    return { command: completionOf(loadCommands) };
  },
};

/** What commands are called in other programs. */
const ELSEWHERE = new Map([
  ["ls", "tree"],
  ["cp", "copy"],
]);

export const commandNames: readonly string[] = Object.keys(commands);

/** All commands, with their names. */
export function loadCommands(): Promise<(readonly [name: string, command: Command])[]> {
  return Promise.all(commandNames.map(async (name) => [name, await loadCommand(name)] as const));
}

/** The command of this name. @throws `invalid-option` with the nearest name. */
export async function loadCommand(name: string): Promise<Command> {
  const load = Object.hasOwn(commands, name) ? commands[name as keyof typeof commands] : undefined;
  if (load) return (await load()).command;
  const near = ELSEWHERE.get(name) ?? nearestName(name, [...commandNames, "help"]);
  throw new ZarrflowError("invalid-option", `unknown command \`${name}\``, {
    hint: near ? `Did you mean \`${near}\`?` : `The commands are ${commandNames.join(", ")} and help.`,
  });
}

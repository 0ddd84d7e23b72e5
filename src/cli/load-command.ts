import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import { commandList, commandNames, loadListed } from "./command-list.ts";
import type { Command } from "./define-command.ts";

/** Names that other programs give to commands, with ours. */
const ELSEWHERE = new Map([
  ["ls", "tree"],
  ["list", "tree"],
  ["cp", "copy"],
  ["sync", "copy --update"],
  ["cat", "slice"],
  ["extract", "slice"],
  ["export", "slice"],
  ["compare", "diff"],
  ["check", "validate"],
  ["fsck", "validate"],
  ["checksum", "digest"],
  ["hash", "digest"],
  ["downsample", "pyramid"],
  ["version", "--version"],
]);

/** Loads the command with this name. @throws `invalid-option` with the nearest name. */
export async function loadCommand(name: string): Promise<Command> {
  const listed = Object.hasOwn(commandList, name) ? commandList[name] : undefined;
  if (listed) return loadListed(listed);
  const near = ELSEWHERE.get(name) ?? nearestName(name, [...commandNames, "help"]);
  throw new ZarrflowError("invalid-option", `unknown command \`${name}\``, {
    hint: near ? `Did you mean \`${near}\`?` : `The commands are ${commandNames.join(", ")} and help.`,
  });
}

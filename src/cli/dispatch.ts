import { EXIT_CODES, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/names.ts";
import { commandList, commandNames, loadListed } from "./command-list.ts";
import { optimizeLater, optimizeRequests } from "./node-process.ts";
import type { Command, UnknownFlag } from "./parse-arguments.ts";
import { ClosedPipe, listenToInterrupts, openTerminal, type Terminal, writeFailure } from "./terminal.ts";
import { failureText, UnfinishedRunError } from "./text/failure.ts";
import { commandHelp } from "./text/help.ts";

/** The exit code of a run that the system stopped, and that can be resumed. */
const STOPPED = 7;
/** The URL of a server, also as the value of a flag. */
const SERVER = /^(?:-.*=)?(?:s3|https?):\/\//i;

/** Runs the command that the arguments name, and sets the exit code. */
export async function runCommand(args: readonly string[]): Promise<void> {
  const terminal = openTerminal(listenToInterrupts());
  const fail = (thrown: unknown) => printFailure(thrown, args, terminal);
  process.on("uncaughtException", (error) => process.exit(fail(error)));
  try {
    await run(args, terminal);
  } catch (error) {
    process.exitCode = fail(error);
  }
  // After an interrupt, do not wait for a reader of standard output.
  if (terminal.interrupts.interruption) process.exit();
}

/** Compares by name, because the module with the class is loaded only with a command. */
function isUnknownFlag(error: unknown): error is UnknownFlag {
  return error instanceof Error && error.name === "UnknownFlag";
}

/** Ends the process because standard output cannot be written. */
export function failToWrite(error: NodeJS.ErrnoException): void {
  process.exit(printFailure(writeFailure(error), [], openTerminal(listenToInterrupts())));
}

async function run([name, ...rest]: readonly string[], terminal: Terminal): Promise<void> {
  if (name === undefined) {
    throw new ZarrflowError("invalid-option", "missing command", {
      hint: `The commands are ${commandNames.join(", ")}; \`zarrflow help\` explains them.`,
    });
  }
  if (name.startsWith("-")) {
    throw new ZarrflowError("invalid-option", `\`${name}\` must come after the command`, {
      hint: "Put the command first: zarrflow COMMAND --FLAG.",
    });
  }
  const flags = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  const about = name === "help" ? rest[0] : flags.some((flag) => flag === "--help" || flag === "-h") && name;
  const command = await loadCommand(about || name);
  if (about) return terminal.write(commandHelp(about, command));
  optimizeLater("on");
  if (rest.some((arg) => SERVER.test(arg))) optimizeRequests();
  try {
    await command.run(rest, terminal);
  } catch (error) {
    if (!isUnknownFlag(error)) throw error;
    const { explainFlag } = await import("./explain-flag.ts");
    throw await explainFlag(error, name, command);
  }
}

/** Prints a failure. Returns the exit code. */
function printFailure(
  thrown: unknown,
  args: readonly string[],
  { interrupts, printLine, errors }: Terminal,
): number {
  const { interruption } = interrupts;
  if (thrown instanceof ClosedPipe && !interruption) return 0;
  const requeued = thrown instanceof Error && "exitCode" in thrown && thrown.name === "Requeue";
  const unfinished = thrown instanceof UnfinishedRunError ? thrown : undefined;
  const error = interruption
    ? new ZarrflowError("aborted", interruption.message)
    : (unfinished?.cause ?? thrown);
  const json = args.includes("--json");
  printLine(failureText(error, { json, color: errors.hasColors?.(), unfinished: unfinished?.words }));
  if (requeued) return EXIT_CODES["tasks-undone"];
  if (unfinished && interruption && interruption.by !== "SIGINT") return STOPPED;
  return isZarrflowError(error) ? error.exitCode : 1;
}

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

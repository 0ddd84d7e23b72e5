#!/usr/bin/env node
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { commandNames, loadCommand } from "./commands.ts";
import { abortOnInterrupt } from "./interrupt.ts";
import { ClosedPipe, openTerminal, type Terminal } from "./terminal.ts";
import { packageVersion } from "./version.ts";
import { failureText } from "./words/failure.ts";
import { commandHelp, overview } from "./words/help.ts";

const args = process.argv.slice(2);
const terminal = openTerminal(abortOnInterrupt());
process.on("uncaughtException", (error) => process.exit(fail(error)));

try {
  await run(args, terminal);
} catch (error) {
  process.exitCode = fail(error);
}
// Whoever interrupts does not wait for what standard output has not taken.
if (terminal.signal.aborted) process.exit();

async function run([name, ...rest]: readonly string[], { write }: Terminal): Promise<void> {
  switch (name) {
    case undefined:
      throw new ZarrflowError("invalid-option", "which command?", {
        hint: `the commands are ${commandNames.join(", ")}; \`zarrflow help\` tells more`,
      });
    case "--version":
      return write(`${packageVersion()}\n`);
    case "--help":
    case "-h":
      return help(undefined);
    case "help":
      return help(rest[0]);
  }
  if (name.startsWith("-")) {
    throw new ZarrflowError("invalid-option", `\`${name}\` stands before any command`, {
      hint: "write zarrflow COMMAND first, its flags after it",
    });
  }
  const command = await loadCommand(name);
  const flags = rest.includes("--") ? rest.slice(0, rest.indexOf("--")) : rest;
  if (flags.includes("--help") || flags.includes("-h")) return help(name);
  return command.run(rest, terminal);

  async function help(about: string | undefined): Promise<void> {
    if (about !== undefined) return write(commandHelp(about, await loadCommand(about)));
    return write(overview());
  }
}

/** Tells people what went wrong. Returns the exit code. */
function fail(thrown: unknown): number {
  const { signal } = terminal;
  if (thrown instanceof ClosedPipe && !signal.aborted) return 0;
  const error = signal.aborted ? new ZarrflowError("aborted", signal.reason.message) : thrown;
  terminal.tell(failureText(error, { json: args.includes("--json"), color: terminal.errors.hasColors?.() }));
  return isZarrflowError(error) ? error.exitCode : 1;
}

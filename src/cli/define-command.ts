import { type Options, parseArguments, type Values } from "./parse-arguments.ts";
import type { Terminal } from "./terminal.ts";
import { warningText } from "./text/warning.ts";

/** The exit code of a command that did its work, and reports that something is broken. */
export const FAILED = 1;

interface Example {
  /** What follows `zarrflow` on the line. */
  readonly line: string;
  readonly says: string;
}

/** What the help shows of a command, besides its summary. */
interface CommandText {
  /** Its operands, such as `SRC DST`. */
  readonly usage: string;
  /** What else there is to know, in lines. */
  readonly notes?: readonly string[];
  /** What to write in place of flags that people expect here, and that it does not have; as sentences. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  readonly options: Options;
  readonly examples: readonly Example[];
}

interface TypedDefinition<O extends Options> extends CommandText {
  /** How many operands it takes, at least and at most. */
  readonly operands: readonly [number, number];
  readonly options: O;
  run(operands: readonly string[], values: Values<O>, terminal: Terminal): Promise<void>;
}

/** A command as its module exports it. */
export interface CommandDefinition extends CommandText {
  /** @throws `invalid-option` for arguments that it does not take; whatever it does may fail with. */
  run(args: readonly string[], terminal: Terminal): Promise<void>;
}

/** What the help shows of a command. */
export interface CommandWords extends CommandText {
  /** One line, from the list of commands. */
  readonly summary: string;
}

/** A command with its line of the list. */
export interface Command extends CommandWords, CommandDefinition {}

/** A command whose `run` gets its operands and flags parsed and typed by its own table of options. */
export function defineCommand<const O extends Options>(definition: TypedDefinition<O>): CommandDefinition {
  return {
    ...definition,
    async run(args, terminal) {
      const { operands, values, warnings } = parseArguments(args, definition);
      if (values["no-warnings"] !== true)
        for (const message of warnings) terminal.printLine(warningText({ message }));
      return definition.run(operands, values, terminal);
    },
  };
}

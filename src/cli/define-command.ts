import { type Options, parseArguments, type Values } from "./parse-arguments.ts";
import type { Terminal } from "./terminal.ts";
import { warningText } from "./text/warning.ts";

/** The exit code of a command that ran, and found something broken. */
export const FAILED = 1;

interface Example {
  /** The rest of the command line, after `zarrflow`. */
  readonly line: string;
  readonly says: string;
}

/** The parts of a command's help, except for its summary. */
interface CommandText {
  /** Its operands, such as `SRC DST`. */
  readonly usage: string;
  /** Further notes, as lines. */
  readonly notes?: readonly string[];
  /** Sentences about flags that people expect but the command does not have, by flag: what to write instead. */
  readonly elsewhere?: Readonly<Record<string, string>>;
  readonly options: Options;
  readonly examples: readonly Example[];
}

interface TypedDefinition<O extends Options> extends CommandText {
  /** The minimum and maximum number of operands. */
  readonly operands: readonly [number, number];
  readonly options: O;
  run(operands: readonly string[], values: Values<O>, terminal: Terminal): Promise<void>;
}

/** A command as exported by its module. */
export interface CommandDefinition extends CommandText {
  /** @throws `invalid-option` for arguments that it does not accept; and the errors of its work. */
  run(args: readonly string[], terminal: Terminal): Promise<void>;
}

/** All parts of a command's help. */
export interface CommandWords extends CommandText {
  /** One line, from the list of commands. */
  readonly summary: string;
}

/** A command with its line from the list. */
export interface Command extends CommandWords, CommandDefinition {}

/** Defines a command whose `run` gets its operands and flags parsed and typed by its table of options. */
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

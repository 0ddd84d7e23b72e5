import { type Options, parseArguments, type Values } from "./parse-arguments.ts";
import type { Terminal } from "./terminal.ts";

/** The exit code of a command that did its work but for what it told as broken. */
export const FAILED = 1;

interface Example {
  /** What follows `zarrflow` on the line. */
  readonly line: string;
  readonly says: string;
}

/** What the help tells of a command. */
export interface CommandWords {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** Its operands, such as `SRC DST`. */
  readonly usage: string;
  /** What else there is to know, in lines. */
  readonly notes?: readonly string[];
  readonly options: Options;
  readonly examples: readonly Example[];
}

export interface CommandDefinition<O extends Options> extends CommandWords {
  /** How many operands it takes, at least and at most. */
  readonly operands: readonly [number, number];
  readonly options: O;
  run(operands: readonly string[], values: Values<O>, terminal: Terminal): Promise<void>;
}

/** A command as `main` sees it. */
export interface Command extends CommandWords {
  /** @throws `invalid-option` for arguments that it does not take; whatever it does may fail with. */
  run(args: readonly string[], terminal: Terminal): Promise<void>;
}

/** A command whose `run` gets its operands and flags parsed and typed by its own table of options. */
export function defineCommand<const O extends Options>(definition: CommandDefinition<O>): Command {
  return {
    ...definition,
    run(args, terminal) {
      const { operands, values } = parseArguments(args, definition);
      return definition.run(operands, values, terminal);
    },
  };
}

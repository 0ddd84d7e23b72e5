import { parseArgs } from "node:util";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/names.ts";
import { warningText } from "./progress/event-progress.ts";
import type { Terminal } from "./terminal.ts";

/** One flag of a command. */
export interface Option {
  readonly type: "boolean" | "string";
  /** Can be given several times; the value is a list. */
  readonly multiple?: boolean;
  /** The value if the flag is given without one. A value must then follow `=`: `--verify=values`. */
  readonly bare?: string;
  /** The placeholder for its value in the help, such as `SIZE`. */
  readonly value?: string;
  /** The allowed values; any by default. */
  readonly choices?: readonly string[];
  /** Values that shells offer, if others are allowed too. */
  readonly suggestions?: readonly string[];
  /** Other spellings of its choices. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** Returns a sentence that says what to write instead of a value that is not allowed. */
  readonly hint?: (value: string, choices: readonly string[]) => string | undefined;
  /** The letter that stands for it after a single dash. */
  readonly short?: string;
  /** Another name for it after two dashes. */
  readonly alias?: string;
  /** Other flags that decide if it has an effect. */
  readonly effect?: Effect;
  readonly summary: string;
}

/** When a flag has an effect. A flag without effect is an error, or causes a warning. */
export interface Effect {
  /** Only with one of these flags. */
  readonly with?: readonly string[];
  /** Only without these flags. */
  readonly without?: readonly string[];
  /**
   * True if it causes a warning instead of an error, because the command still does what was asked for, or only
   * previews it.
   */
  readonly warns?: boolean;
}

/** Flags by name, without dashes. */
export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O["type"] extends "boolean"
  ? boolean
  : O extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;

/** The values of the flags in a table; undefined for absent ones. */
export type FlagValues<O extends Options> = {
  readonly [Name in keyof O]?: O[Name]["multiple"] extends true ? readonly Value<O[Name]>[] : Value<O[Name]>;
};

export interface Grammar<O extends Options> {
  readonly usage: string;
  /** The minimum and maximum number of operands. */
  readonly operands: readonly [number, number];
  readonly options: O;
}

/** A flag that the command does not have. `explain-flag.ts`, which knows all commands, explains it. */
export class UnknownFlag extends Error {
  override readonly name = "UnknownFlag";
  /** The flag as written, with its dashes. */
  readonly flag: string;

  constructor(flag: string) {
    super(`unknown flag \`${flag}\``);
    this.flag = flag;
  }
}

/**
 * Splits a command's arguments into operands and flags. Values may begin with one dash (`--chunks -1,16`). Everything
 * after `--` is an operand.
 *
 * @returns also warnings about flags that have no effect
 * @throws `UnknownFlag`; `invalid-option` for missing or contradictory arguments.
 */
export function parseArguments<O extends Options>(
  args: readonly string[],
  { usage, operands: [least, most], options }: Grammar<O>,
): { operands: readonly string[]; values: FlagValues<O>; warnings: readonly string[] } {
  const types = Object.entries(options).flatMap(([name, { type, bare, short, alias }]) => {
    const typed = { type: bare === undefined ? type : "boolean" } as const;
    return [
      [name, { ...typed, ...(short && { short }) }] as const,
      ...(alias ? [[alias, typed] as const] : []),
    ];
  });
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(types),
    strict: false,
    tokens: true,
  });
  const operands: string[] = [];
  const values = new Map<string, boolean | string | string[]>();
  for (const token of tokens) {
    if (token.kind === "positional") operands.push(token.value);
    if (token.kind !== "option") continue;
    const { rawName } = token;
    const name = Object.hasOwn(options, token.name) ? token.name : longName(rawName, options);
    const option = options[name];
    if (!option) throw new UnknownFlag(rawName);
    const value = flagValue(name, option, token);
    if (!option.multiple && values.has(name)) throw invalid(`--${name} is given twice`);
    values.set(name, option.multiple ? [...((values.get(name) as string[]) ?? []), value as string] : value);
  }
  if (operands.length < least) throw invalid(`missing operand: the command takes ${usage}`);
  if (operands.length > most) throw tooMany(operands[most] ?? "", usage, options);
  if (operands.includes("-"))
    throw invalid(
      "Zarr cannot be read from standard input or written to standard output",
      "Give a folder, a zip or a URL, or ./- for a folder of that name.",
    );
  const warnings = [...values.keys()].flatMap((name) => withoutEffect(name, options, values) ?? []);
  return { operands, values: Object.fromEntries(values) as FlagValues<O>, warnings };
}

function longName(rawName: string, options: Options): string {
  const isMeant = ({ short, alias }: Option) =>
    (short && rawName === `-${short}`) || (alias && rawName === `--${alias}`);
  const found = Object.entries(options).find(([, option]) => isMeant(option));
  return found?.[0] ?? "";
}

/** The warning about a flag that has no effect with the other flags. @throws `invalid-option` if that is an error */
function withoutEffect(
  name: string,
  options: Options,
  given: ReadonlyMap<string, unknown>,
): string | undefined {
  const { with: needed, without = [], warns } = options[name]?.effect ?? {};
  const beside = without.find((other) => given.has(other));
  const isLacking = needed !== undefined && !needed.some((other) => given.has(other));
  if (beside === undefined && !isLacking) return undefined;
  const reason = `--${name} has no effect ${beside === undefined ? `without ${flagList(needed)}` : `with --${beside}`}`;
  if (warns) return reason;
  throw invalid(
    reason,
    `Omit ${beside === undefined ? `--${name}, or add ${flagList(needed)}` : "one of them"}.`,
  );
}

function flagList(names: readonly string[] = []): string {
  return names.map((name) => `--${name}`).join(" or ");
}

function flagValue(
  name: string,
  { type, bare, choices, aliases = {}, hint, value: placeholder }: Option,
  { value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined },
): boolean | string {
  if (type === "boolean") {
    if (value === undefined) return true;
    throw invalid(`--${name} takes no value, but was given \`${value}\``);
  }
  if (value === undefined && bare !== undefined) return bare;
  if (value === undefined || (value.startsWith("--") && !inlineValue)) {
    throw invalid(`--${name} needs a value`, `Write --${name} ${placeholder ?? "VALUE"}.`);
  }
  if (value.trim() === "") {
    const written = `--${name}${bare === undefined ? " " : "="}${placeholder ?? "VALUE"}`;
    throw invalid(`the value of --${name} is empty`, `Write ${written}, or omit the flag.`);
  }
  const meant = (Object.hasOwn(aliases, value) && aliases[value]) || value;
  if (choices && !choices.includes(meant)) throw notAChoice(name, value, choices, hint?.(value, choices));
  return meant;
}

function notAChoice(
  name: string,
  value: string,
  choices: readonly string[],
  hint: string | undefined,
): ZarrflowError {
  const isSame = (choice: string) => choice.toLowerCase() === value.toLowerCase();
  const near = choices.find(isSame) ?? (value.length > 2 ? nearestName(value, choices) : undefined);
  return invalid(
    `invalid value for --${name}: ${value} (expected ${choices.join(", ")})`,
    hint ?? (near && `Did you mean \`${near}\`?`),
  );
}

function tooMany(operand: string, usage: string, options: Options): ZarrflowError {
  return invalid(
    `unexpected operand \`${operand}\`: the command takes ${usage}`,
    flagMeant(operand, options),
  );
}

/** A hint for an operand that looks like the value of a flag. */
function flagMeant(operand: string, options: Options): string | undefined {
  if (/^(?:true|false|yes|no|on|off)$/i.test(operand)) return "Write the flag without a value.";
  const flags = Object.entries(options);
  const [chosen] = flags.find(([, { choices }]) => choices?.includes(operand)) ?? [];
  if (chosen !== undefined) return `Did you mean \`--${chosen} ${operand}\`?`;
  const sized = /^[\w*:]+=(?:-?\d+|auto)(?:,|$)/.test(operand) && flags.find(([name]) => name === "chunks");
  return sized ? `Did you mean \`--chunks ${operand}\`?` : undefined;
}

function invalid(reason: string, hint?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: hint ?? "See the command's --help.",
  });
}

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
  /**
   * Hints on flags that people expect but the command does not have, by flag: sentences that say what to write instead.
   */
  readonly elsewhere?: Readonly<Record<string, string>>;
  readonly options: Options;
  readonly examples: readonly Example[];
}

interface TypedDefinition<O extends Options> extends CommandText {
  /** The minimum and maximum number of operands. */
  readonly operands: readonly [number, number];
  readonly options: O;
  run(operands: readonly string[], values: FlagValues<O>, terminal: Terminal): Promise<void>;
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

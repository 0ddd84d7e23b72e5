import { parseArgs } from "node:util";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";

/** One flag of a command. */
export interface Option {
  readonly type: "boolean" | "string";
  /** May be given several times; the value is a list. */
  readonly multiple?: boolean;
  /** What it means without a value, which is written after `=` then: `--verify=values`. */
  readonly bare?: string;
  /** What its value is called in the help, such as `SIZE`. */
  readonly value?: string;
  /** The values it can have; any by default. */
  readonly choices?: readonly string[];
  /** Values that shells offer, where it can have others too. */
  readonly suggestions?: readonly string[];
  /** Other spellings of its choices. */
  readonly aliases?: Readonly<Record<string, string>>;
  readonly summary: string;
}

/** Flags by name, without dashes. */
export type Options = Readonly<Record<string, Option>>;

type Value<O extends Option> = O["type"] extends "boolean"
  ? boolean
  : O extends { readonly choices: readonly (infer Choice)[] }
    ? Choice
    : string;

/** What the flags of a table come to; absent ones are undefined. */
export type Values<O extends Options> = {
  readonly [Name in keyof O]?: O[Name]["multiple"] extends true ? readonly Value<O[Name]>[] : Value<O[Name]>;
};

export interface Grammar<O extends Options> {
  readonly usage: string;
  /** How many operands there are, at least and at most. */
  readonly operands: readonly [number, number];
  readonly options: O;
}

/**
 * Splits a command's arguments into operands and flags. Values may begin with one dash (`--chunks -1,16`); after
 * `--` all are operands.
 *
 * @throws `invalid-option` with the nearest name of what is not known, or with what is lacking.
 */
export function parseArguments<O extends Options>(
  args: readonly string[],
  { usage, operands: [least, most], options }: Grammar<O>,
): { operands: readonly string[]; values: Values<O> } {
  const types = Object.entries(options).map(([name, { type, bare }]) => {
    return [name, { type: bare === undefined ? type : "boolean" }] as const;
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
    const { name, rawName } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (!option || !rawName.startsWith("--")) throw unknownFlag(rawName, Object.keys(options));
    const value = flagValue(name, option, token);
    if (!option.multiple && values.has(name)) throw invalid(`--${name} is given twice`);
    values.set(name, option.multiple ? [...((values.get(name) as string[]) ?? []), value as string] : value);
  }
  if (operands.length < least) throw invalid(`missing operand: the command takes ${usage}`);
  if (operands.length > most) throw tooMany(operands[most] ?? "", usage);
  return { operands, values: Object.fromEntries(values) as Values<O> };
}

function flagValue(
  name: string,
  { type, bare, choices, aliases = {}, value: placeholder }: Option,
  { value, inlineValue }: { value?: string | undefined; inlineValue?: boolean | undefined },
): boolean | string {
  if (type === "boolean") {
    if (value === undefined) return true;
    throw invalid(`--${name} takes no value, but \`${value}\` is given`);
  }
  if (value === undefined && bare !== undefined) return bare;
  if (value === undefined || (value.startsWith("--") && !inlineValue)) {
    throw invalid(`--${name} needs a value`, `Write --${name} ${placeholder ?? "VALUE"}.`);
  }
  const meant = (Object.hasOwn(aliases, value) && aliases[value]) || value;
  if (choices && !choices.includes(meant)) throw notAChoice(name, value, choices);
  return meant;
}

function unknownFlag(rawName: string, names: readonly string[]): ZarrflowError {
  const near = nearestName(rawName.replace(/^-+/, ""), names);
  return invalid(
    `unknown flag \`${rawName}\``,
    near ? `Did you mean \`--${near}\`?` : `The flags are ${names.map((name) => `--${name}`).join(", ")}.`,
  );
}

function notAChoice(name: string, value: string, choices: readonly string[]): ZarrflowError {
  const near = value.length > 2 ? nearestName(value, choices) : undefined;
  return invalid(
    `invalid value for --${name}: ${value} (expected ${choices.join(", ")})`,
    near && `Did you mean \`${near}\`?`,
  );
}

function tooMany(operand: string, usage: string): ZarrflowError {
  return invalid(`unexpected operand \`${operand}\`: the command takes ${usage}`);
}

function invalid(reason: string, hint?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, {
    hint: hint ?? "Run the command with --help to see its usage.",
  });
}

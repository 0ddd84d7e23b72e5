import { signalOfOurs } from "./abort.ts";
import { ZarrflowError } from "./errors.ts";
import { firstOf, nearestName } from "./names.ts";
import { isDuration, parseBytes } from "./units.ts";

/** Key of the options that a context shares among its calls. */
export const SHARED: unique symbol = Symbol("shared options");

/** Options that apply to every call that receives them as `context`. */
export interface SharedOptions {
  readonly [SHARED]: Readonly<Record<string, unknown>>;
}

/** Limits that apply to all calls together, so that a call cannot change them. */
const LIMITS = ["concurrency", "requestsPerSecond", "bytesPerSecond"];

/** Listeners that already pass their call's events on to the context. */
const joint = new WeakSet<object>();

type Options = Readonly<Record<string, unknown>>;

export function isShared(value: unknown): value is SharedOptions {
  return typeof value === "object" && value !== null && SHARED in value;
}

/**
 * Merges a call's options with those of its context; the call's own options win.
 *
 * @param names the options that the call accepts
 * @throws `invalid-option` for options that only the context may set, and for more memory than it has
 */
export function withShared<O extends object>(options: O, names: Readonly<Record<string, true>>): O {
  const own = { ...options } as Options;
  if (!isShared(own.context)) return options;
  const shared = own.context[SHARED];
  assertLimits(own, shared, names);
  const common = Object.entries(shared).filter(
    ([name, value]) => value !== undefined && own[name] === undefined && Object.hasOwn(names, name),
  );
  const onEvent = Object.hasOwn(names, "onEvent") && bothListeners(own.onEvent, shared.onEvent);
  return { ...options, ...Object.fromEntries(common), ...(onEvent && { onEvent }) };
}

/** Returns only the options that the call itself sets. */
export function withoutShared<O extends object>(options: O): O {
  const all = { ...options } as Options;
  if (!isShared(all.context)) return options;
  const shared = all.context[SHARED];
  return Object.fromEntries(
    Object.entries(options).filter(([name, value]) => value !== shared[name] || value === undefined),
  ) as O;
}

function assertLimits(own: Options, shared: Options, names: Readonly<Record<string, true>>): void {
  const other = LIMITS.find(
    (name) => shared[name] !== undefined && own[name] !== undefined && own[name] !== shared[name],
  );
  if (other !== undefined) {
    throw new ZarrflowError(
      "invalid-option",
      `\`${other}\` is a limit of the context, shared by all its calls`,
      {
        expected: String(shared[other]),
        found: String(own[other]),
        hint: `Omit \`${other}\`, or create another context.`,
      },
    );
  }
  const unkept = LIMITS.find((name) => shared[name] !== undefined && !Object.hasOwn(names, name));
  if (unkept !== undefined && Object.hasOwn(names, "maxMemory")) {
    throw new ZarrflowError("invalid-option", `this call cannot obey the \`${unkept}\` of its context`, {
      hint: "Use a context without that limit.",
    });
  }
  if (!isSize(own.maxMemory) || !isSize(shared.maxMemory)) return;
  if (parseBytes(own.maxMemory) <= parseBytes(shared.maxMemory)) return;
  throw new ZarrflowError("invalid-option", "`maxMemory` exceeds the memory of the context", {
    expected: `at most ${shared.maxMemory}`,
    found: String(own.maxMemory),
  });
}

function isSize(value: unknown): value is number | string {
  return typeof value === "number" || typeof value === "string";
}

function bothListeners(own: unknown, shared: unknown): ((event: unknown) => void) | undefined {
  if (typeof shared !== "function" || typeof own !== "function" || own === shared) return undefined;
  if (joint.has(own)) return undefined;
  const both = (event: unknown) => {
    own(event);
    shared(event);
  };
  joint.add(both);
  return both;
}

/** A condition on an option's value. */
export interface Rule {
  /** The condition in words, for error messages. */
  readonly expected: string;
  readonly holds: (value: unknown) => boolean;
}

const flag: Rule = { expected: "true or false", holds: (value) => typeof value === "boolean" };
export const text: Rule = { expected: "a string", holds: (value) => typeof value === "string" };
const call: Rule = { expected: "a function", holds: (value) => typeof value === "function" };
const count: Rule = {
  expected: "a whole number, 1 or more",
  holds: (value) => Number.isSafeInteger(value) && Number(value) >= 1,
};
const size: Rule = {
  expected: "a number of bytes, or a string such as 256MB",
  holds: (value) => typeof value === "string" || (typeof value === "number" && value >= 0),
};
const rate: Rule = {
  expected: "a number above 0",
  holds: (value) => typeof value === "number" && value > 0,
};
const duration: Rule = {
  expected: "a number of seconds above 0, or a string such as 20s",
  holds: isDuration,
};
const texts: Rule = {
  expected: "a list of strings",
  holds: (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
};
const textOrTexts: Rule = {
  expected: "a string or a list of strings",
  holds: (value) => text.holds(value) || texts.holds(value),
};
const textOrObject: Rule = {
  expected: "a string or an object",
  holds: (value) => typeof value === "string" || isObject(value),
};
export const codec: Rule = {
  expected: "a string such as zstd:5, or { name, configuration }",
  holds: (value) => text.holds(value) || (isObject(value) && "name" in value && text.holds(value.name)),
};
export const oneOf = (...choices: readonly string[]): Rule => ({
  expected: `one of ${choices.join(", ")}`,
  holds: (value) => choices.includes(value as string),
});

/** Rules by option name; an option obeys the same rule in every call. */
const RULES: Readonly<Record<string, Rule>> = {
  context: { expected: "what `context` returns", holds: isShared },
  signal: { expected: "an AbortSignal", holds: isSignal },
  stop: { expected: "an AbortSignal", holds: isSignal },
  onEvent: call,
  onFailure: call,
  base: text,
  wrap: call,
  beforeRequest: call,
  fetch: call,
  retry: { expected: 'an object such as { attempts: 5, timeout: "20s" }', holds: isRetry },
  attempts: count,
  timeout: duration,
  firstWait: duration,
  longestWait: duration,
  onRetry: call,
  headers: {
    expected: "an object of strings, or a function that returns one",
    holds: (value) =>
      typeof value === "function" ||
      (isObject(value) && Object.values(value).every((one) => text.holds(one))),
  },
  query: text,
  maxMemory: size,
  maxMetadata: size,
  bytesPerSecond: size,
  requestsPerSecond: rate,
  concurrency: {
    expected: "a whole number, 1 or more, or auto",
    holds: (value) => value === "auto" || count.holds(value),
  },
  threads: count,
  scratch: text,
  ifExists: oneOf("error", "skip", "replace", "update"),
  match: oneOf("all", "any"),
  outside: oneOf("keep", "delete"),
  to: oneOf("v1", "v2", "v3-draft-2019", "v3-draft-2020", "v3"),
  v1Order: oneOf("as-written", "as-stated"),
  v2: { expected: 'an object such as { separator: "/" }', holds: isV2 },
  chunks: textOrObject,
  shards: textOrObject,
  verify: { expected: "true, false, written or values", holds: (value) => isVerification(value) },
  codec,
  slice: textOrObject,
  sel: {
    expected: "an object of labels by dimension",
    holds: (value) => isObject(value) && !Array.isArray(value),
  },
  part: { expected: "{ number, of }, such as { number: 2, of: 8 }", holds: isPart },
  allowLoss: texts,
  storeProfile: textOrTexts,
  include: textOrTexts,
  exclude: textOrTexts,
  ...Object.fromEntries(
    [
      "fsync",
      "resume",
      "verifySource",
      "writeEmptyChunks",
      "strict",
      "companions",
      "deep",
      "replace",
      "consolidated",
      "consistent",
      "cells",
      "nearest",
    ].map((name) => [name, flag]),
  ),
  ...Object.fromEntries(
    [
      "anonymous",
      "missing403",
      "allowUnicode",
      "mustChange",
      "keepFormats",
      "dryRun",
      "breakLock",
      "fix",
      "dense",
      "decode",
      "flags",
      "flat",
      "trustMap",
    ].map((name) => [name, flag]),
  ),
};

/** All option names of a type, to distinguish a call's options from others. */
export type OptionNames<O> = { readonly [Name in keyof O]-?: true };

/**
 * Checks options and merges in those of their context. Every option must be in `names` and obey its rule. Drops
 * undefined options, and replaces the signal by one whose reason is a `ZarrflowError`.
 *
 * @throws `invalid-option` with the option, the expected value and the actual one; for an unknown option, with the
 * nearest name
 */
export function checkedOptions<O extends object>(
  options: O & { readonly signal?: AbortSignal | undefined },
  names: OptionNames<O>,
): O {
  assertKnown(options, names);
  assertRules(options, RULES);
  const whole = withShared(options, names);
  const given = Object.entries(whole).filter(([, value]) => value !== undefined);
  const { signal } = whole;
  return Object.fromEntries(signal ? [...given, ["signal", signalOfOurs(signal)]] : given) as O;
}

/** Checks that every option is in `names`. @throws `invalid-option` with the nearest name. */
export function assertKnown(
  options: object,
  names: Readonly<Record<string, true>>,
  what: "option" | "member" = "option",
): void {
  if (!isObject(options)) throw invalidOption("options must be an object", "an object", options);
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(names, name)) continue;
    const known = Object.keys(names);
    const [option, written] = OTHER_NAMES.get(name) ?? [];
    const meant = option && Object.hasOwn(names, option) ? written : nearestName(name, known);
    throw new ZarrflowError("invalid-option", `unknown ${what} \`${name}\``, {
      ...(meant === undefined && {
        expected: known.length === 0 ? "no options" : `one of ${firstOf(known)}`,
      }),
      ...(meant !== undefined && { hint: `Did you mean \`${meant}\`?` }),
    });
  }
}

/** Names that other tools and the command use for an option: its name here, and how to write it. */
const OTHER_NAMES: ReadonlyMap<string, readonly [option: string, written: string]> = new Map([
  ["update", ["ifExists", 'ifExists: "update"']],
  ["replace", ["ifExists", 'ifExists: "replace"']],
  ["overwrite", ["ifExists", 'ifExists: "replace"']],
  ["skip", ["ifExists", 'ifExists: "skip"']],
  ["compressor", ["codec", "codec"]],
  ["maxMem", ["maxMemory", "maxMemory"]],
  ["bwlimit", ["bytesPerSecond", "bytesPerSecond"]],
  ["io", ["concurrency", "concurrency"]],
  ["tps", ["requestsPerSecond", "requestsPerSecond"]],
  ["alone", ["companions", "companions: false"]],
]);

/** Flags of the command that are not the name of their option in kebab case. */
const FLAGS: ReadonlyMap<string, string> = new Map([
  ["companions", "alone"],
  ["headers", "header"],
  ["missing403", "missing-403"],
  ["retry.attempts", "attempts"],
  ["retry.timeout", "timeout"],
  ["v2", "v2-separator"],
]);

/** Returns the name of the command's flag for an option: `allow-loss` for `allowLoss`. */
export function flagOf(option: string): string {
  const kebab = () => option.replace(".", "-").replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return FLAGS.get(option) ?? kebab();
}

/** An option that has no effect in some situation. */
export interface IdleOption {
  readonly option: string;
  /** A sentence on what to write instead; by default "Omit it." */
  readonly instead?: string;
}

/** Returns the error for an option without effect. */
export function withoutEffect({ option, instead }: IdleOption, reason: string): ZarrflowError {
  return new ZarrflowError("invalid-option", `${nameWithFlag(option)} has no effect: ${reason}`, {
    option,
    hint: instead ?? "Omit it.",
  });
}

/** Names the option of the library, and its flag if that has another name. */
function nameWithFlag(option: string): string {
  const flag = flagOf(option);
  return flag === option ? `\`${option}\`` : `\`${option}\` (--${flag})`;
}

/** The message about an option without effect, as the command prints it: with the flag alone. */
export function withFlagAlone(message: string, option: string | undefined): string {
  return option === undefined ? message : message.replace(nameWithFlag(option), `--${flagOf(option)}`);
}

/** Picks the options whose names are in `names`. */
export function pickOptions<O extends object, Name extends string>(
  options: O,
  names: Readonly<Record<Name, true>>,
): Pick<O, Name & keyof O> {
  const picked = Object.entries(options).filter(([name]) => Object.hasOwn(names, name));
  return Object.fromEntries(picked) as Pick<O, Name & keyof O>;
}

/** Checks values against the rules of the same name, ignoring undefined values. @throws `invalid-option` */
export function assertRules(values: object, rules: Readonly<Record<string, Rule>>): void {
  for (const [name, value] of Object.entries(values)) {
    const rule = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (value === undefined || rule === undefined || rule.holds(value)) continue;
    const reason = `invalid value for the option \`${name}\``;
    throw name === "headers"
      ? new ZarrflowError("invalid-option", reason, { expected: rule.expected })
      : invalidOption(reason, rule.expected, value);
  }
}

/** Returns an `invalid-option` error for a value of the wrong kind. */
export function invalidOption(reason: string, expected: string, value: unknown): ZarrflowError {
  return new ZarrflowError("invalid-option", reason, { expected, found: kindOf(value) });
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object of another kind";
  if (typeof value === "function") return "a function";
  return typeof value === "symbol" || value === undefined ? String(value) : JSON.stringify(`${value}`);
}

/** An object of unknown members. */
export type Fields = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

function isVerification(value: unknown): boolean {
  return flag.holds(value) || value === "written" || value === "values";
}

function isPart(value: unknown): boolean {
  if (!isObject(value) || !("number" in value) || !("of" in value)) return false;
  return count.holds(value.number) && count.holds(value.of) && Number(value.number) <= Number(value.of);
}

/** True if a value is a valid `retry` option for servers that are opened by URL. */
export function isRetry(value: unknown): boolean {
  if (!isObject(value)) return false;
  const rules: Readonly<Record<string, Rule>> = { attempts: count, timeout: duration };
  return Object.entries(value).every(([name, one]) => one === undefined || rules[name]?.holds(one));
}

function isV2(value: unknown): boolean {
  if (!isObject(value)) return false;
  return Object.entries(value).every(
    ([name, one]) => name === "separator" && (one === undefined || one === "." || one === "/"),
  );
}

function isSignal(value: unknown): boolean {
  return isObject(value) && "aborted" in value && "addEventListener" in value;
}

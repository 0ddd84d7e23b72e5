import { parseBytes } from "./byte-size.ts";
import { ZarrflowError } from "./errors.ts";

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
      `\`${other}\` is a limit of the context, for all its calls together`,
      {
        expected: String(shared[other]),
        found: String(own[other]),
        hint: `Omit \`${other}\`, or make another context.`,
      },
    );
  }
  const unkept = LIMITS.find((name) => shared[name] !== undefined && !Object.hasOwn(names, name));
  if (unkept !== undefined && Object.hasOwn(names, "maxMemory")) {
    throw new ZarrflowError("invalid-option", `this call cannot keep to the \`${unkept}\` of its context`, {
      hint: "Give it a context without that limit.",
    });
  }
  if (!isSize(own.maxMemory) || !isSize(shared.maxMemory)) return;
  if (parseBytes(own.maxMemory) <= parseBytes(shared.maxMemory)) return;
  throw new ZarrflowError("invalid-option", "`maxMemory` is more than the context has for all its calls", {
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

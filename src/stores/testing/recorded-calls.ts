import { isObject } from "../../util/options.ts";

/** Source text of calls, by their results or errors, so that a failed check can name its call. */
const texts = new WeakMap<object, string>();

/**
 * Returns the text of the call that returned or threw `outcome`, such as `get("a/0", { range: { offset: 2 } })`.
 */
export function callOf(outcome: unknown): string | undefined {
  return isObject(outcome) ? texts.get(outcome) : undefined;
}

const targets = new WeakMap<object, object>();

/** Returns the store that was passed to `recorded`. */
export function unrecorded<T extends object>(store: T): T {
  return (targets.get(store) as T | undefined) ?? store;
}

/**
 * Wraps a store, or one of its writers, so that its calls are recorded. All its calls return promises, except
 * listings.
 */
export function recorded<T extends object>(target: T, prefix = ""): T {
  const proxy = new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: readonly unknown[]) => {
        const text = `${prefix}${String(name)}(${args.map(show).join(", ")})`;
        const note = <O>(outcome: O): O => {
          if (isObject(outcome) && !texts.has(outcome)) texts.set(outcome, text);
          return outcome;
        };
        const call = (): unknown => Reflect.apply(member, target, args);
        if (name === "list" || name === "listDirectory") return noteThrown(call, note);
        const promise = (async () => call())();
        promise.catch(note);
        if (name !== "openWriter") return note(promise);
        return note(
          promise.then((writer) => (isObject(writer) ? recorded(writer, `writer of ${text}: `) : writer)),
        );
      };
    },
  });
  targets.set(proxy, target);
  return proxy;
}

function noteThrown(call: () => unknown, note: <O>(outcome: O) => O): unknown {
  try {
    return note(call());
  } catch (error) {
    throw note(error);
  }
}

/** Writes a value as an argument. */
export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value instanceof Uint8Array) return `${value.length} bytes`;
  if (Array.isArray(value)) return `[${value.map(show).join(", ")}]`;
  if (!isObject(value) || value instanceof Error) return String(value);
  const members = Object.entries(value).flatMap(([name, member]) => {
    if (member === undefined) return [];
    const isWritten = typeof member !== "function" && !(member instanceof AbortSignal);
    return isWritten ? [`${name}: ${show(member)}`] : [name];
  });
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}

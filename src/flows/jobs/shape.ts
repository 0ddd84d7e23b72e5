import { isObject } from "../../util/check-options.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { pointerTo } from "../../util/json-pointer.ts";

/** Checks the shape of a value from a file. @throws `plan-mismatch` with the JSON pointer of the first mismatch */
export type Shape = (value: unknown, pointer: string) => void;

/** The error for a plan file that this version cannot have written. */
export function notAPlan(reason: string, pointer: string, value?: unknown): ZarrflowError {
  return new ZarrflowError("plan-mismatch", reason, {
    pointer,
    ...(value !== undefined && { value: typeof value === "object" ? JSON.stringify(value) : String(value) }),
    hint: "Make the plan again with `zarrflow plan`; plans are not meant to be edited.",
  });
}

/** A value that passes a test. */
export function value(expected: string, holds: (value: unknown) => boolean): Shape {
  return (found, pointer) => {
    if (!holds(found)) throw notAPlan(`this must be ${expected}`, pointer, found);
  };
}

export const anything: Shape = () => {};
export const flag = value("true or false", (found) => typeof found === "boolean");
export const number = value("a number", (found) => Number.isFinite(found));
export const text = value("a string", (found) => typeof found === "string");

export function oneOf(...choices: readonly unknown[]): Shape {
  return value(`one of ${choices.join(", ")}`, (found) => choices.includes(found));
}

/** A whole number within bounds. */
export function whole(least: number, most = Number.MAX_SAFE_INTEGER): Shape {
  return value(
    `a whole number from ${least} to ${most}`,
    (found) => Number.isSafeInteger(found) && Number(found) >= least && Number(found) <= most,
  );
}

export function list(item: Shape, most = Number.POSITIVE_INFINITY): Shape {
  return (found, pointer) => {
    if (!Array.isArray(found) || found.length > most) throw notAPlan("this must be a list", pointer, found);
    for (const [i, one] of found.entries()) item(one, pointerTo(pointer, i));
  };
}

export function optional(shape: Shape): Shape {
  return (found, pointer) => {
    if (found !== undefined) shape(found, pointer);
  };
}

export function record(members: Readonly<Record<string, Shape>>): Shape {
  return (found, pointer) => {
    if (!isObject(found) || Array.isArray(found)) throw notAPlan("this must be an object", pointer, found);
    for (const [name, shape] of Object.entries(members)) {
      shape(Object.hasOwn(found, name) ? (found as Fields)[name] : undefined, pointerTo(pointer, name));
    }
  };
}

type Fields = { readonly [name: string]: unknown };

import { type ErrorCode, isZarrflowError } from "../../util/errors.ts";
import type { ListedEntry } from "../store.ts";
import { callOf, show } from "./recorded-calls.ts";

/**
 * A rule of the store interfaces that was broken. The message names the call, the expected result, and the actual
 * one.
 */
export class ContractViolation extends Error {}

/** Details that make a failed check easier to understand. */
export interface CheckDetails {
  /** The value that contains the bytes. */
  readonly of?: Uint8Array;
  /** Advice on how to fix the store, as a sentence. */
  readonly hint?: string | undefined;
}

/** Asserts that a call returns the expected result; bytes are compared by content. */
export async function returns<T>(
  result: Promise<T>,
  expected: T,
  { of, hint }: CheckDetails = {},
): Promise<void> {
  const found = await settled(result, describe(expected, of), hint);
  const isSame =
    found instanceof Uint8Array && expected instanceof Uint8Array
      ? firstDifference(found, expected) === undefined
      : Object.is(found, expected);
  if (isSame) return;
  const place =
    found instanceof Uint8Array && expected instanceof Uint8Array && found.length === expected.length
      ? `: they differ from byte ${firstDifference(found, expected)} on`
      : "";
  broken(callOf(result), describe(expected, of), describe(found, of) + place, hint);
}

/** Asserts that a listing has exactly these keys and prefixes, in this order. */
export async function lists(entries: AsyncIterable<ListedEntry>, expected: readonly string[]): Promise<void> {
  const call = callOf(entries);
  const found = await settled(listedNames(entries), show(expected), undefined, call);
  const lacking = expected.filter((name) => !found.includes(name));
  const surplus = found.filter((name) => !expected.includes(name));
  const twice = found.filter((name, i) => found.indexOf(name) !== i);
  const at = expected.findIndex((name, i) => found[i] !== name);
  const wrong =
    lacking.length > 0
      ? `${show(lacking)} missing`
      : surplus.length > 0
        ? `${show(surplus)} too`
        : twice.length > 0
          ? `${show(twice)} more than once`
          : at >= 0 && `${show(found[at])} where ${show(expected[at])} should be: not sorted by UTF-8 bytes`;
  if (wrong !== false) broken(call, show(expected), wrong);
}

/** Returns the names of a listing: keys, and prefixes, which end in `/`. */
export async function listedNames(entries: AsyncIterable<ListedEntry>): Promise<string[]> {
  const names: string[] = [];
  for await (const entry of entries) names.push("key" in entry ? entry.key : entry.prefix);
  return names;
}

export function equal<T>(found: T, expected: T, what: string, hint?: string): void {
  if (!Object.is(found, expected)) broken(what, describe(expected), describe(found), hint);
}

/** Asserts that a call rejects with `reason`, directly or as the cause of `aborted`. */
export async function rejectsWith(
  result: Promise<unknown>,
  reason: unknown,
  call = callOf(result),
): Promise<void> {
  const error = await rejection(result, "the given reason as an error", call);
  if (error === reason || (isZarrflowError(error, "aborted") && error.cause === reason)) return;
  broken(
    call,
    "the given reason as an error, or as the cause of `aborted`",
    describeError(error),
    undefined,
    error,
  );
}

/** Asserts that a call rejects with an error of this code, or, without a code, with any `ZarrflowError`. */
export async function refuses(
  result: Promise<unknown>,
  code: ErrorCode | undefined,
  { hint, call = callOf(result) }: CheckDetails & { readonly call?: string | undefined } = {},
): Promise<void> {
  const expected = code === undefined ? "a ZarrflowError" : `a ZarrflowError with the code ${code}`;
  const error = await rejection(result, expected, call, hint);
  const isExpected = code === undefined ? isZarrflowError(error) : isZarrflowError(error, code);
  if (!isExpected) broken(call, expected, describeError(error), hint, error);
}

async function rejection(
  result: Promise<unknown>,
  expected: string,
  call: string | undefined,
  hint?: string,
): Promise<unknown> {
  let found: unknown;
  try {
    found = await result;
  } catch (error) {
    return error;
  }
  return broken(call, expected, describe(found), hint);
}

async function settled<T>(
  result: Promise<T>,
  expected: string,
  hint?: string,
  call = callOf(result),
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    return broken(call, expected, describeError(error), hint, error);
  }
}

function broken(
  call: string | undefined,
  expected: string,
  found: string,
  hint?: string | undefined,
  cause?: unknown,
): never {
  const words = `${call ? `${call}: ` : ""}expected ${expected}, found ${found}${hint ? `. ${hint}` : ""}`;
  throw new ContractViolation(words, { cause });
}

export function describeError(error: unknown): string {
  if (isZarrflowError(error)) return `the error ${error.code}: ${error.message}`;
  return error instanceof Error ? `the error ${error}` : `the thrown ${show(error)}`;
}

/** Describes a value: bytes by their place in the value that contains them, or by the first ones. */
function describe(value: unknown, of?: Uint8Array): string {
  if (!(value instanceof Uint8Array)) return show(value);
  const { length } = value;
  const size = `${length} ${length === 1 ? "byte" : "bytes"}`;
  if (length === 0) return size;
  const at = of === undefined ? -1 : placeOf(value, of);
  if (at >= 0 && length === of?.length) return `${size} (the whole value)`;
  if (at >= 0) return `${size} (from byte ${at} of the value on)`;
  const shown = [...value.subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
  return `${size} (${shown}${length > 16 ? " …" : ""})`;
}

/** Returns the place of a part in a value without repeated bytes; -1 if it is not in it. */
function placeOf(part: Uint8Array, value: Uint8Array): number {
  const at = value.indexOf(part[0] ?? -1);
  return at >= 0 && firstDifference(part, value.subarray(at, at + part.length)) === undefined ? at : -1;
}

function firstDifference(a: Uint8Array, b: Uint8Array): number | undefined {
  const length = Math.max(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i;
  return undefined;
}

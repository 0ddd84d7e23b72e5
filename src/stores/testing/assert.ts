import { type ErrorCode, isZarrflowError } from "../../util/errors.ts";

/** Fails unless both are the same when written as JSON; bytes count by content. */
export function equal(found: unknown, expected: unknown, what: string): void {
  const [a, b] = [show(found), show(expected)];
  if (a !== b) throw new Error(`${what}: expected ${b}, found ${a}`);
}

/** Fails unless `promise` rejects with `reason`, as it is or as the cause of `aborted`. */
export async function rejectsWith(promise: Promise<unknown>, reason: unknown, what: string): Promise<void> {
  const error = await rejection(promise, what);
  const isReason = error === reason || (isZarrflowError(error, "aborted") && error.cause === reason);
  if (!isReason) throw new Error(`${what}: not the given reason`, { cause: error });
}

/** Fails unless `promise` rejects with an error of this code, or, without one, any error of ours. */
export async function refuses(
  promise: Promise<unknown>,
  code: ErrorCode | undefined,
  what: string,
): Promise<void> {
  const error = await rejection(promise, what);
  const isExpected = code === undefined ? isZarrflowError(error) : isZarrflowError(error, code);
  if (!isExpected) throw new Error(`${what}: not ${code}`, { cause: error });
}

async function rejection(promise: Promise<unknown>, what: string): Promise<unknown> {
  try {
    await promise;
  } catch (error) {
    return error;
  }
  throw new Error(`${what}: no error`);
}

function show(value: unknown): string {
  if (value instanceof Uint8Array) {
    const bytes = [...value.subarray(0, 64)].map((byte) => byte.toString(16).padStart(2, "0"));
    return `${value.length} bytes ${bytes.join("")}${value.length > 64 ? `… sum ${sum(value)}` : ""}`;
  }
  return value === undefined ? "undefined" : JSON.stringify(value);
}

/** Distinguishes longer values: FNV-1a. */
function sum(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

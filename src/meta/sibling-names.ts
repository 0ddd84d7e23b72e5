import { ZarrflowError } from "../util/errors.ts";

/** True if two names differ only in case. */
export function isSameButForCase(a: string, b: string): boolean {
  return a !== b && a.toLowerCase() === b.toLowerCase();
}

/** Returns the error for a node at `path` that conflicts with the one at `other`. */
export function caseConflict(format: string, path: string, other: string): ZarrflowError {
  const reason = `names must differ in more than case, and \`${other}\` exists`;
  return new ZarrflowError("invalid-node-name", reason, { format, path, value: other });
}

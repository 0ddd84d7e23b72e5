import { ZarrflowError } from "../util/errors.ts";

/** Whether two names exclude one another where case is left aside. */
export function isSameButForCase(a: string, b: string): boolean {
  return a !== b && a.toLowerCase() === b.toLowerCase();
}

/** The error for a node at `path` beside one at `other`. */
export function caseConflict(format: string, path: string, other: string): ZarrflowError {
  const reason = `names must differ in more than case, and \`${other}\` exists`;
  return new ZarrflowError("invalid-node-name", reason, { format, path, value: other });
}

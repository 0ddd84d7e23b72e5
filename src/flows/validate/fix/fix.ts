import type { ValidateFinding } from "../finding.ts";

/** Something that was fixed, or would be. */
export type Fix = ValidateFinding;

/** Position of a fix, besides its node. */
type Place = Pick<ValidateFinding, "key" | "count" | "pointer" | "place">;

export function fixed(what: ValidateFinding["what"], path: string, message: string, place: Place = {}): Fix {
  return { level: "info", what, path, message, ...place, isFix: true };
}

/** Verb phrase for an action that was taken, or would be: `were removed`, `would be removed`. */
export function done(were: "was" | "were", verb: string, dryRun: boolean): string {
  return `${dryRun ? "would be" : were} ${verb}`;
}

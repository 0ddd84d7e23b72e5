import type { Mode, Operation, Run } from "./runs.ts";

export type PlaceName = "directory" | "zip" | "s3" | "object";

/** What is run at a place of this name. */
export interface Case {
  readonly place: PlaceName;
  readonly operation: Operation;
  readonly mode: Mode;
}

/** The long form, `npm run test:crash`, cuts at every call and in both formats; the short one at some. */
export const IS_LONG = process.env.ZARRFLOW_CRASH === "all";

const operations: readonly Operation[] = ["copy", "direct", "staged", "convert"];
const modes: readonly Mode[] = ["fresh", "replace", "skip", "update", "member", "new member"];

/** All that is possible at these places. */
export function casesAt(...places: readonly PlaceName[]): Case[] {
  return places.flatMap((place) =>
    operations.flatMap((operation) =>
      modes.filter((mode) => isPossible(place, operation, mode)).map((mode) => ({ place, operation, mode })),
    ),
  );
}

function isPossible(place: PlaceName, operation: Operation, mode: Mode): boolean {
  if (mode === "update") return operation === "copy" && place !== "zip";
  return place !== "zip" || mode === "fresh" || mode === "replace";
}

/** The formats in which a case is run. */
export function formatsOf({ operation, mode }: Case): readonly Run["zarrFormat"][] {
  if (IS_LONG) return ["v2", "v3"];
  return (operation.length + mode.length) % 2 ? ["v2"] : ["v3"];
}

import { MAX_TOGETHER } from "../util/merge-ranges.ts";
import type { StoreSpec } from "./store.ts";

/** The most bytes of all requests for several ranges of a zip that are under way. */
export const MAX_HELD = 2 * MAX_TOGETHER;

/** Bytes that reading the store which `spec` names takes, besides the buffers of those who read. */
export function readerMemory({ kind }: StoreSpec): number {
  return kind === "zip-value" ? MAX_HELD : 0;
}

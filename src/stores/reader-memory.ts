import type { StoreSpec } from "./store.ts";
import { MOST_HELD } from "./zip/coalescing-reader.ts";

/** Bytes that reading the store which `spec` names takes, besides the buffers of those who read. */
export function readerMemory({ kind }: StoreSpec): number {
  return kind === "zip-value" ? MOST_HELD : 0;
}

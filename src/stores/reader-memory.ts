import type { StoreSpec } from "./store.ts";
import { MAX_HELD } from "./zip/coalescing-reader.ts";

/** Bytes that reading the store which `spec` names takes, besides the buffers of those who read. */
export function readerMemory({ kind }: StoreSpec): number {
  return kind === "zip-value" ? MAX_HELD : 0;
}

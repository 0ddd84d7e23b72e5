import { joinBytes } from "../util/join-bytes.ts";
import type { StoreWriter } from "./store.ts";
import { inTurn } from "./writer.ts";

/** A writer that keeps a copy of all pieces and gives them, joined, to `set`: for stores that take whole values only. */
export function bufferedWriter(
  key: string,
  set: (bytes: Uint8Array) => Promise<void>,
  signal: AbortSignal | undefined,
): StoreWriter {
  const pieces: Uint8Array[] = [];
  return inTurn(
    {
      write: async (bytes) => {
        pieces.push(new Uint8Array(bytes));
      },
      commit: () => set(joinBytes(pieces)),
      abort: async () => {
        pieces.length = 0;
      },
    },
    key,
    signal,
  );
}

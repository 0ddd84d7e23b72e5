import type { ChunkKeyEncoding, DialectName } from "./array-metadata.ts";

/** What an array has that is new in a dialect, as its own writers make them, where nothing else is said. */
interface UsualArray {
  readonly keys: ChunkKeyEncoding;
  /** The compressor, as people write it. */
  readonly codec: string;
}

export const USUAL_ARRAY: Readonly<Record<DialectName, UsualArray>> = {
  v1: { keys: { name: "plain", separator: "." }, codec: "blosc" },
  v2: { keys: { name: "plain", separator: "." }, codec: "zstd" },
  "v3-draft-2019": { keys: { name: "plain", separator: "." }, codec: "gzip" },
  "v3-draft-2020": { keys: { name: "plain", separator: "/" }, codec: "gzip" },
  v3: { keys: { name: "default", separator: "/" }, codec: "zstd" },
};

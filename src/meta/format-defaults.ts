import type { ChunkKeyEncoding, ZarrFormat } from "./array-metadata.ts";

/** What an array has that is new in a format, as its own writers make them, where nothing else is said. */
interface UsualArray {
  readonly keys: ChunkKeyEncoding;
  /** The compressor, as people write it. */
  readonly codec: string;
  /** Whether a fill value of null is written, which leaves missing items undefined; else it is zero. */
  readonly nullFill: boolean;
}

export const FORMAT_DEFAULTS: Readonly<Record<ZarrFormat, UsualArray>> = {
  v1: { keys: { name: "plain", separator: "." }, codec: "blosc", nullFill: true },
  v2: { keys: { name: "plain", separator: "." }, codec: "zstd", nullFill: true },
  "v3-draft-2019": { keys: { name: "plain", separator: "." }, codec: "gzip", nullFill: true },
  "v3-draft-2020": { keys: { name: "plain", separator: "/" }, codec: "gzip", nullFill: true },
  v3: { keys: { name: "default", separator: "/" }, codec: "zstd", nullFill: false },
};

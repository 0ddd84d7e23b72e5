import { ZarrflowError } from "../util/errors.ts";
import type { ChunkKeyEncoding, ZarrFormat } from "./array-metadata.ts";
import type { CodecText } from "./codec-option.ts";
import type { FormatDefinition } from "./format.ts";
import type { V1Order } from "./v1/array.ts";
import { v1Format } from "./v1/v1.ts";
import { type V2Options, v2Format } from "./v2/v2.ts";
import { v3 } from "./v3/v3.ts";
import { v3Draft2019, v3Draft2020 } from "./v3-draft/v3-draft.ts";

/** How metadata are read: what a format leaves open to its reader, and how much of them. */
export interface FormatOptions {
  /**
   * How `order: "F"` of Zarr v1 is read where chunks are not blosc's: the one writer there was stored these in C order
   * all the same; files of another origin may mean what they state.
   *
   * @default "as-written"
   */
  readonly v1Order?: V1Order | undefined;
  readonly v2?: V2Options | undefined;
  /**
   * Bytes that a metadata document, consolidated or not, may have; a larger one is `resource-limit`, and is not read.
   *
   * @default 33,554,432
   */
  readonly maxMetadata?: number | undefined;
}

/** @throws `unsupported-format` for a name that no format has. */
export function formatNamed(name: ZarrFormat, options: FormatOptions = {}): FormatDefinition {
  switch (name) {
    case "v1":
      return v1Format(options.v1Order);
    case "v2":
      return v2Format(options.v2);
    case "v3-draft-2019":
      return v3Draft2019;
    case "v3-draft-2020":
      return v3Draft2020;
    case "v3":
      return v3;
    default:
      throw new ZarrflowError("unsupported-format", "there is no Zarr format with this name", {
        value: name,
      });
  }
}

/** What an array has that is new in a format, as its own writers make them, where nothing else is said. */
interface UsualArray {
  readonly keys: ChunkKeyEncoding;
  /** The compressor, as people write it. */
  readonly codec: CodecText;
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

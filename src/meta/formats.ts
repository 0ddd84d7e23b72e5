import { ZarrflowError } from "../util/errors.ts";
import type { ChunkKeyEncoding, ZarrFormat } from "./array-metadata.ts";
import type { CodecText } from "./codec-option.ts";
import type { FormatDefinition } from "./format.ts";
import type { V1Order } from "./v1/array.ts";
import { v1Format } from "./v1/v1.ts";
import { type V2Options, v2Format } from "./v2/v2.ts";
import { v3 } from "./v3/v3.ts";
import { v3Draft2019, v3Draft2020 } from "./v3-draft/v3-draft.ts";

/** Options for reading metadata: choices that a format leaves to its reader, and a size limit. */
export interface FormatOptions {
  /**
   * How to read `order: "F"` of Zarr v1 for chunks without blosc. The only writer stored these in C order despite it;
   * other files may mean what they state.
   *
   * @default "as-written"
   */
  readonly v1Order?: V1Order | undefined;
  readonly v2?: V2Options | undefined;
  /**
   * Largest metadata document in bytes, consolidated or not. A larger one fails with `resource-limit` unread.
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

/** Defaults of new arrays in a format, as its own writers create them. */
interface UsualArray {
  readonly keys: ChunkKeyEncoding;
  /** The default compressor, as users write it. */
  readonly codec: CodecText;
  /** True if the fill value is null, which leaves missing items undefined; otherwise it is zero. */
  readonly nullFill: boolean;
}

export const FORMAT_DEFAULTS: Readonly<Record<ZarrFormat, UsualArray>> = {
  v1: { keys: { name: "plain", separator: "." }, codec: "blosc", nullFill: true },
  v2: { keys: { name: "plain", separator: "." }, codec: "zstd", nullFill: true },
  "v3-draft-2019": { keys: { name: "plain", separator: "." }, codec: "gzip", nullFill: true },
  "v3-draft-2020": { keys: { name: "plain", separator: "/" }, codec: "gzip", nullFill: true },
  v3: { keys: { name: "default", separator: "/" }, codec: "zstd", nullFill: false },
};

import type { Slice } from "../../../hierarchy/slice.ts";
import type { DecodeOptions } from "../decode/decoder.ts";
import { rawPieces } from "./raw.ts";

/** Writes the items of a slice, decoded if requested. @throws as `rawPieces` and `decodedSlabs` */
export async function* rawSlicePieces(slice: Slice, options: DecodeOptions): AsyncGenerator<Uint8Array> {
  if (!options.decode) return yield* rawPieces(slice.slabs());
  const { decodedSlabs, sliceDecoder } = await import("../decode/decoded-slice.ts");
  yield* rawPieces(decodedSlabs(await sliceDecoder(slice, options)));
}

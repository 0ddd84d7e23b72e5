import { ZarrflowError } from "../../../util/errors.ts";
import { product } from "../../../util/shape.ts";
import type { Slab } from "../slab.ts";

/**
 * Writes only the items of slabs, little-endian. Each piece is valid until the next one is requested.
 *
 * @throws `unsupported-operation` for strings and objects.
 */
export async function* rawPieces(slabs: AsyncIterable<Slab>): AsyncGenerator<Uint8Array> {
  for await (const { data } of slabs) {
    if (data.kind === "variable") {
      throw new ZarrflowError("unsupported-operation", "strings and objects have no raw bytes", {
        hint: "Use --format json, csv for strings, or `read().data` in a program.",
      });
    }
    yield data.bytes.subarray(0, product(data.shape) * data.itemSize);
  }
}

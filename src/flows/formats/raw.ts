import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { Slice } from "../slice.ts";

/**
 * The items of a slice in C order, little-endian, and nothing else; each piece is valid until the next is asked for.
 *
 * @throws `unsupported-operation` for strings and objects.
 */
export async function* rawPieces(slice: Pick<Slice, "slabs">): AsyncGenerator<Uint8Array> {
  for await (const { data } of slice.slabs()) {
    if (data.kind === "variable") {
      throw new ZarrflowError("unsupported-operation", "strings and objects have no plain bytes", {
        hint: "take them as JSON, or read().data",
      });
    }
    yield data.bytes.subarray(0, product(data.shape) * data.itemSize);
  }
}

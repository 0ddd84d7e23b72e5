import type { ZarrflowError } from "../../util/errors.ts";
import { MAX_CHUNK_SIZE } from "../limits.ts";

/**
 * Offsets of consecutive items of the given `lengths`, followed by the end of the last item.
 *
 * @param tooLarge creates the error for more bytes than a chunk may have
 */
export function offsetsOf(lengths: Uint32Array, tooLarge: (found: number) => ZarrflowError): Uint32Array {
  const offsets = new Uint32Array(lengths.length + 1);
  let end = 0;
  lengths.forEach((length, i) => {
    end += length;
    offsets[i + 1] = end;
  });
  if (end <= MAX_CHUNK_SIZE) return offsets;
  throw tooLarge(end);
}

import { ZarrflowError } from "../util/errors.ts";
import { corrupt } from "./failures.ts";

/**
 * Number of items of `size` bytes to encode.
 *
 * @throws `codec-error` if the last item is incomplete.
 */
export function itemsToEncode(bytes: Uint8Array, size: number): number {
  if (bytes.length % size === 0) return bytes.length / size;
  throw new ZarrflowError("codec-error", notWhole(bytes, size));
}

/**
 * Number of items of `size` bytes to decode.
 *
 * @throws `corrupt-chunk` if the last item is incomplete.
 */
export function itemsToDecode(bytes: Uint8Array, size: number): number {
  if (bytes.length % size === 0) return bytes.length / size;
  throw corrupt(notWhole(bytes, size));
}

function notWhole(bytes: Uint8Array, size: number): string {
  return `${bytes.length} bytes are not a whole number of items of ${size} bytes`;
}

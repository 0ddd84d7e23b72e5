import { ZarrflowError } from "../util/errors.ts";
import { corrupt } from "./failures.ts";

/** How many items of `size` bytes are to be encoded. @throws `codec-error` where the last is cut. */
export function itemsToEncode(bytes: Uint8Array, size: number): number {
  if (bytes.length % size === 0) return bytes.length / size;
  throw new ZarrflowError("codec-error", notWhole(bytes, size));
}

/** How many items of `size` bytes are to be decoded. @throws `corrupt-chunk` where the last is cut. */
export function itemsToDecode(bytes: Uint8Array, size: number): number {
  if (bytes.length % size === 0) return bytes.length / size;
  throw corrupt(notWhole(bytes, size));
}

function notWhole(bytes: Uint8Array, size: number): string {
  return `${bytes.length} bytes are not a whole number of items of ${size} bytes`;
}

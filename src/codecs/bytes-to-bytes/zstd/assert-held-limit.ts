import { ZarrflowError } from "../../../util/errors.ts";

/** @throws `resource-limit` when a WebAssembly memory would have to hold more than `most` bytes at once. */
export function assertHeldLimit(bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new ZarrflowError("resource-limit", "zstd takes at most 1 GiB a chunk, encoded and decoded", {
    expected: most,
    found: bytes,
  });
}

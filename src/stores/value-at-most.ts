import { ZarrflowError } from "../util/errors.ts";
import type { GetOptions, Store } from "./store.ts";

/** Makes the error for a value with more bytes than a caller can use. */
export type TooLarge = (found: number, limit: number) => ZarrflowError;

/**
 * Reads a value of bounded size; undefined if the key is missing. The size is checked before memory is allocated.
 *
 * @throws `resource-limit`, as made by `tooLarge`, and the errors of the store.
 */
export async function valueAtMost(
  store: Pick<Store, "get">,
  key: string,
  limit: number,
  { tooLarge = anyTooLarge, ...options }: GetOptions & { readonly tooLarge?: TooLarge } = {},
): Promise<Uint8Array | undefined> {
  const check = (size: number) => {
    if (size > limit) throw tooLarge(size, limit).addContext({ key });
  };
  const allocate = (byteLength: number) => {
    check(byteLength);
    return new Uint8Array(byteLength);
  };
  const bytes = await store.get(key, { ...options, allocate, maxBytes: limit });
  check(bytes?.length ?? 0);
  return bytes;
}

function anyTooLarge(found: number, limit: number): ZarrflowError {
  return new ZarrflowError("resource-limit", "the value is too large", {
    expected: `at most ${limit} bytes`,
    found: `${found} bytes`,
  });
}

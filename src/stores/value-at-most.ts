import { ZarrflowError } from "../util/errors.ts";
import type { GetOptions, Store } from "./store.ts";

/** What says that a value has more bytes than a caller can use. */
export type TooLarge = (found: number, limit: number) => ZarrflowError;

/**
 * A value of a bounded size; undefined where there is none. The size is checked before memory is taken for it.
 *
 * @throws `resource-limit`, as `tooLarge` says it, and what the store throws.
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

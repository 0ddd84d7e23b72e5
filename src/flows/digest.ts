import type { ZarrArray } from "../hierarchy/node.ts";
import type { OpenSource } from "../hierarchy/open/open.ts";
import { READ_OPTIONS, type ReadOptions, SLAB_OPTIONS, type SlabOptions } from "../hierarchy/read-options.ts";
import { missingValueOf } from "../meta/conventions/missing-value.ts";
import { isFixed } from "../meta/data-type.ts";
import { checkedOptions, type OptionNames } from "../util/check-options.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import { hasher } from "../util/hash.ts";
import { toHex } from "../util/hex.ts";
import { product } from "../util/shape.ts";
import { bytesText } from "./diff/compare-values.ts";
import { itemBytes } from "./digest/item-bytes.ts";
import { READ_EVENT_OPTIONS, type ReadEventOptions } from "./events.ts";
import { arraysBelow } from "./request/arrays-below.ts";
import { openSliceOptions, slice } from "./slice.ts";
import { isFault } from "./validate/finding.ts";

/** The digest of one array. */
export interface ArrayDigest {
  /** Path below the given node; "" for the node itself. */
  readonly path: string;
  readonly dataType: string;
  readonly shape: readonly number[];
  /** SHA-256 in hexadecimal. */
  readonly sha256: string;
  /**
   * Value that readers of CF conventions treat as missing, as JSON text such as `-999` or `"NaN"`; absent if there is
   * none. Not part of the digest.
   */
  readonly missingValue?: string;
}

/** An array or a group that cannot be read. */
export interface BrokenDigest {
  /** Path below the given node. */
  readonly path: string;
  readonly error: ZarrflowError;
}

export interface DigestOptions extends ReadOptions, SlabOptions, ReadEventOptions {
  /** Called with each unreadable node below a group; the others are still digested. By default it is an error. */
  readonly onBroken?: ((broken: BrokenDigest) => void) | undefined;
}

export const DIGEST_OPTIONS: OptionNames<DigestOptions> = {
  ...READ_OPTIONS,
  ...SLAB_OPTIONS,
  ...READ_EVENT_OPTIONS,
  onBroken: true,
};

/**
 * Computes the SHA-256 of each array's items in C order, little-endian. It does not depend on chunks, codecs or format.
 * Items of varying size are hashed as their length (8 bytes, little-endian) followed by their bytes.
 *
 * @example
 * ```ts
 * import { digest } from "zarrflow";
 *
 * for await (const { path, sha256 } of digest("era5.zarr")) console.log(sha256, path);
 * ```
 */
export async function* digest(source: OpenSource, given: DigestOptions = {}): AsyncGenerator<ArrayDigest> {
  const options = checkedOptions(given, DIGEST_OPTIONS);
  for await (const { array, path } of arraysBelow(source, options)) {
    const sha256 = await arrayDigest(array, path, options).catch((error: unknown) => {
      if (path === "" || !options.onBroken || !isZarrflowError(error) || !isFault(error)) throw error;
      options.onBroken({ path, error });
    });
    if (sha256 === undefined) continue;
    const { metadata, dataType, shape, layout } = array;
    const missing = missingValueOf(metadata, layout.zarrFormat);
    const missingValue = missing && bytesText(missing, metadata.dataType);
    yield { path, dataType, shape, sha256, ...(missingValue !== undefined && { missingValue }) };
  }
}

async function arrayDigest(array: ZarrArray, path: string, options: DigestOptions): Promise<string> {
  const newHash = await hasher();
  const hash = newHash();
  const { dataType, shape } = array.metadata;
  const allBytes = isFixed(dataType) ? product(shape) * dataType.size : undefined;
  let digested = 0;
  for await (const { data } of slice(array, {}, { ...openSliceOptions(options), consistent: true }).slabs()) {
    for (const bytes of itemBytes(data, 0, product(data.shape))) {
      hash.update(bytes);
      digested += bytes.length;
    }
    options.onEvent?.({ type: "read", path, bytes: digested, allBytes });
  }
  return toHex(hash.digest());
}

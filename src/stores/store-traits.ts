import { MAX_TOGETHER } from "../util/byte-range.ts";
import type { Store, StoreSpec } from "./store.ts";

/** Properties of a store that its spec shows before the store is opened. */
export interface StoreTraits {
  /** True for files of this machine, which respond immediately: concurrent reads gain nothing. */
  readonly isFileBacked: boolean;
  /** True if the store is reached over a network. */
  readonly isRemote: boolean;
  /** True if a single writer writes one value after another. */
  readonly hasSingleWriter: boolean;
  /** True if another thread can open the same store by its spec. */
  readonly opensAnywhere: boolean;
}

/** True if the spec names a zip, as a file or as a value. Zips are only replaced as a whole. */
export function isZip({ kind }: StoreSpec): boolean {
  return kind === "zip" || kind === "zip-value";
}

export function storeTraits(spec: StoreSpec): StoreTraits {
  switch (spec.kind) {
    case "directory":
      return { isFileBacked: true, isRemote: false, hasSingleWriter: false, opensAnywhere: true };
    case "zip":
      return { isFileBacked: true, isRemote: false, hasSingleWriter: true, opensAnywhere: true };
    case "zip-value":
      return { ...storeTraits(spec.store), isFileBacked: false, hasSingleWriter: true };
    case "http":
    case "s3":
      return { isFileBacked: false, isRemote: true, hasSingleWriter: false, opensAnywhere: true };
    case "memory":
    case "object":
      return { isFileBacked: false, isRemote: false, hasSingleWriter: false, opensAnywhere: false };
  }
}

/** Size of the first parts of an S3 upload of unknown size. S3 accepts only the last part below 5 MiB. */
export const S3_PART_BYTES = 8 * 2 ** 20;

/** Maximum number of parts that S3 accepts for one value. */
export const MAX_S3_PARTS = 10_000;

/** Returns the part size for an S3 value of the expected size, with room for 10% more. */
export function partBytes(expectedSize = 0): number {
  const least = Math.ceil((1.1 * expectedSize) / MAX_S3_PARTS);
  return Math.max(S3_PART_BYTES, Math.ceil(least / 2 ** 20) * 2 ** 20);
}

/** Returns the bytes that an open writer holds in memory, for the store that `spec` names. */
export function writerMemory({ kind }: StoreSpec, expectedSize?: number): number {
  return kind === "s3" ? partBytes(expectedSize) : 0;
}

/** Parts of a zip in memory at a time: one is filled while the others are sent. */
const ZIP_PARTS = 4;

/**
 * Returns the bytes that a target holds in memory during its whole build. Only a zip inside another store holds any:
 * the parts of the value into which it is streamed, several of them if they fit in `most` bytes.
 */
export function buildMemory(spec: StoreSpec, expectedSize: number, most: number): number {
  const part = spec.kind === "zip-value" ? writerMemory(spec.store, expectedSize) : 0;
  return part === 0 ? 0 : part * Math.max(1, Math.min(ZIP_PARTS, Math.floor(most / part)));
}

/** Maximum number of bytes in flight for coalesced reads of a zip. */
export const MAX_HELD = 2 * MAX_TOGETHER;

/** Returns the bytes that reading the store of `spec` takes, in addition to the readers' buffers. */
export function readerMemory({ kind }: StoreSpec): number {
  return kind === "zip-value" ? MAX_HELD : 0;
}

/** Stores, and prototypes of store classes, that throw only `ZarrflowError`. */
const native = new WeakSet<object>();

/** Registers a store, or the prototype of a store class, whose failures are all of class `ZarrflowError`. */
export function markNativeStore(store: object): void {
  native.add(store);
}

/** True for a registered store. False for a store of a subclass, whose own methods may throw anything. */
export function isNativeStore(store: object): boolean {
  return native.has(store) || native.has(Object.getPrototypeOf(store) ?? store);
}

/**
 * Returns the prototype of the registered class that a store's class is or extends; undefined for any other store.
 */
export function nativePrototype(store: object): Store | undefined {
  let prototype: object | null = Object.getPrototypeOf(store);
  while (prototype !== null && !native.has(prototype)) prototype = Object.getPrototypeOf(prototype);
  return (prototype as Store | null) ?? undefined;
}

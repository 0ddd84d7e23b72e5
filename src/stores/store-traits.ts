import type { StoreSpec } from "./store.ts";

/** Properties of a store that its spec shows before the store is opened. */
export interface StoreTraits {
  /** True for files of this machine, which answer at once: concurrent reads gain nothing. */
  readonly isFileBacked: boolean;
  /** True if the store is reached over a network. */
  readonly isRemote: boolean;
  /** True if a single writer writes one value after another. */
  readonly hasSingleWriter: boolean;
  /** True if another thread can open the same store by its spec. */
  readonly isReopenable: boolean;
}

/** True if the spec names a zip, as a file or as a value. Zips are only replaced as a whole. */
export function isZip({ kind }: StoreSpec): boolean {
  return kind === "zip" || kind === "zip-value";
}

export function storeTraits(spec: StoreSpec): StoreTraits {
  switch (spec.kind) {
    case "directory":
      return { isFileBacked: true, isRemote: false, hasSingleWriter: false, isReopenable: true };
    case "zip":
      return { isFileBacked: true, isRemote: false, hasSingleWriter: true, isReopenable: true };
    case "zip-value":
      return { ...storeTraits(spec.store), isFileBacked: false, hasSingleWriter: true };
    case "http":
    case "s3":
      return { isFileBacked: false, isRemote: true, hasSingleWriter: false, isReopenable: true };
    case "memory":
    case "object":
      return { isFileBacked: false, isRemote: false, hasSingleWriter: false, isReopenable: false };
  }
}

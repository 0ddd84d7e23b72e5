import type { StoreSpec } from "./store.ts";

/** What a spec says of its store, before it is opened. */
export interface StoreTraits {
  /** Made of files of this machine, which answer at once: reading several values at one time gains nothing. */
  readonly isFileBacked: boolean;
  /** Reached over a network. */
  readonly isRemote: boolean;
  /** Written by one writer, one value after the other. */
  readonly hasSingleWriter: boolean;
  /** Another thread can open the same store by its spec. */
  readonly isReopenable: boolean;
}

/** Whether it is of a zip, a file or a value: one is only ever replaced as a whole. */
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

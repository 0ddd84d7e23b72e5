import type { StoreSpec } from "../store.ts";

/** What a URL names: a store, and a node in it. */
export interface StoreUrl {
  readonly spec: StoreSpec;
  /**
   * Normalised path of the node inside the store. Of a directory, a bucket or a web server it is not known where the store ends
   * and the node's path begins: all is in `spec` then, and the caller finds the root by walking up.
   */
  readonly path: string;
  /** The format, where the URL names one. */
  readonly zarrFormat?: FoundFormat;
}

export type FoundFormat = "v1" | "v2" | "v3" | "v3-draft-2019";

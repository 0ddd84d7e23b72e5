import type { StoreSpec } from "../store.ts";

/** The store and the node in it that a URL names. */
export interface StoreUrl {
  readonly spec: StoreSpec;
  /**
   * Normalized path of the node inside the store. In a directory, a bucket or a web server, the URL does not show
   * where the store ends and the node's path starts. Then all is in `spec`, and the caller finds the root by
   * walking up.
   */
  readonly path: string;
  /** The format, if the URL names one. */
  readonly zarrFormat?: FoundFormat;
}

export type FoundFormat = "v1" | "v2" | "v3" | "v3-draft-2019";

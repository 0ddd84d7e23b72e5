export interface TargetBuildOptions {
  /**
   * What to do with a target that exists (an empty folder does not count): refuse, before a byte is written, or leave
   * it as it is until the new one is published in its place.
   */
  readonly ifExists: "error" | "replace";
  /**
   * For a zip: the level, 1 to 9, at which its entries are deflated.
   *
   * @default undefined, entries are stored as they are
   */
  readonly deflate?: number | undefined;
}

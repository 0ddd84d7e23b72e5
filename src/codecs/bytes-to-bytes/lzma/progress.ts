/** Where a decoder is, in its source and in its target. */
export interface Progress {
  readonly read: number;
  readonly written: number;
}

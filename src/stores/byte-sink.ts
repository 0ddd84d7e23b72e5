/** Where the bytes of one long value go, from its begin to its end: a file, an object uploaded in parts. */
export interface ByteSink {
  /** Appends. Resolves when more can be taken; `bytes` are the caller's again from then on. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Appends all pieces before it returns; false where that cannot be done, for whatever reason, and none was appended.
   * Absent in sinks that always have to wait.
   */
  writeSync?(...pieces: readonly Uint8Array[]): boolean;
  /** Overwrites at `offset` what was written before; absent where that is gone. */
  patch?(offset: number, bytes: Uint8Array): Promise<void>;
  /** Resolves when all is written. */
  close(): Promise<void>;
  /** Gives up and leaves nothing; does nothing after `close`. */
  abort(reason: unknown): Promise<void>;
}

/** Takes the bytes of one long value in order: a file, or an object that is uploaded in parts. */
export interface ByteSink {
  /** Appends bytes. Resolves when the sink can take more; the caller may then reuse `bytes`. */
  write(bytes: Uint8Array): Promise<void>;
  /**
   * Appends all pieces before it returns. Returns false, with nothing appended, if that is not possible for any
   * reason. Absent in sinks that always have to wait.
   */
  writeSync?(...pieces: readonly Uint8Array[]): boolean;
  /** Overwrites earlier bytes at `offset`; absent if the sink no longer has them. */
  patch?(offset: number, bytes: Uint8Array): Promise<void>;
  /** Resolves when everything is written. */
  close(): Promise<void>;
  /** Stops and discards what was written. Has no effect after `close`. */
  abort(reason: unknown): Promise<void>;
}

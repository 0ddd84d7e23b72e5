/** Writes the bytes of one archive to a sink. Calls must not overlap. */
export interface EntryEncoder {
  /** Writes a whole entry; the caller may reuse `bytes` when it resolves. */
  add(key: string, bytes: Uint8Array): Promise<void>;
  /**
   * Like `add`, but finished when it returns. Returns false, with nothing written, if that is not possible. Absent
   * if it never is.
   */
  addSync?(key: string, bytes: Uint8Array): boolean;
  /** Starts an entry of unknown size. */
  begin(key: string): Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  /** Writes the directory and the comment, the last bytes of the archive. */
  finish(comment?: Uint8Array): Promise<void>;
}

/** Permissions of unpacked entries: a regular file, `rw-r--r--`. */
export const FILE_MODE = 0o100644;

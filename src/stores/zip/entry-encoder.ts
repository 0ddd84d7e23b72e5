/** Writes the bytes of one archive to a sink. Its calls come one after the other. */
export interface EntryEncoder {
  /** Writes a whole entry; `bytes` are the caller's again when it resolves. */
  add(key: string, bytes: Uint8Array): Promise<void>;
  /** As `add`, done before it returns; false where that cannot be done, and nothing was. Absent where it never can. */
  addSync?(key: string, bytes: Uint8Array): boolean;
  /** Begins an entry of unknown size. */
  begin(key: string): Promise<void>;
  write(bytes: Uint8Array): Promise<void>;
  end(): Promise<void>;
  /** Writes the directory and the comment of the archive, its last bytes. */
  finish(comment?: Uint8Array): Promise<void>;
}

/** Permissions of entries that are unpacked: a regular file, `rw-r--r--`. */
export const FILE_MODE = 0o100644;

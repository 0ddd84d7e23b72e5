/** A part of a value that a store has received. */
export interface UploadedPart {
  /** 1 for the first part of the value. */
  readonly number: number;
  /** In bytes. */
  readonly size: number;
  /** Identifier of the part's contents, as the store returned it. */
  readonly tag: string;
}

/** A multipart upload that was started. */
export interface BegunUpload {
  readonly id: string;
  /** The parts that are known to be uploaded, from number 1 on. */
  readonly parts: readonly UploadedPart[];
}

/** The state from which an upload continues, and callbacks that record its progress. */
export interface UploadNotes {
  /** The upload to continue. Its first parts are kept, as far as the store has them as given here. */
  readonly begun?: BegunUpload | undefined;
  /** Called when an upload has started, before any of its parts is sent. */
  readonly onBegun?: ((id: string) => void) | undefined;
  /** Called with each part that the store has received, in any order. */
  readonly onPart?: ((part: UploadedPart) => void) | undefined;
}

/** An upload that can be left for another writer. */
export interface LeavableUpload {
  /** The parts of `begun` that are kept: writing continues after their bytes. */
  readonly kept: readonly UploadedPart[];
  /** Stops writing and leaves the parts that the store has. Resolves when no part is in flight. */
  leave(): Promise<void>;
}

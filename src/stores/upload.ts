/** A part of a value that a store has taken. */
export interface UploadedPart {
  /** 1 for the first bytes of the value. */
  readonly number: number;
  /** In bytes. */
  readonly size: number;
  /** What distinguishes its bytes from others, as the store says it. */
  readonly tag: string;
}

/** An upload in parts that was begun. */
export interface BegunUpload {
  readonly id: string;
  /** Those that it is known to have, from number 1 on. */
  readonly parts: readonly UploadedPart[];
}

/** How an upload is gone on with, and noted so that another can go on with it. */
export interface UploadNotes {
  /** The upload to go on with: the first of its parts are kept, as far as the store has them as they are given. */
  readonly begun?: BegunUpload | undefined;
  /** Called when an upload was begun, before any of its parts is sent. */
  readonly onBegun?: ((id: string) => void) | undefined;
  /** Called with each part that the store has taken, in any order. */
  readonly onPart?: ((part: UploadedPart) => void) | undefined;
}

/** An upload that can be left. */
export interface LeavableUpload {
  /** The parts of `begun` that are kept: what is written comes after their bytes. */
  readonly kept: readonly UploadedPart[];
  /** Ends writing, and leaves the parts that the store has. Resolves when none is under way. */
  leave(): Promise<void>;
}

/** Values that are adjacent in one remote object, such as the entries of a zip in S3. */
export interface Neighbours {
  /**
   * Returns the place of a value in the object, as far as it is known before reading; undefined for a value
   * elsewhere.
   */
  placeOf(key: string): ValuePlace | undefined;
  /**
   * Reads a part of the object in one request. Afterwards `get` takes values that are completely in that part from
   * it. The function that it returns ends this; the caller may then reuse the buffer.
   *
   * @throws as `get`, if the object cannot be read.
   */
  hold(
    part: Uint8Array,
    offset: number,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<() => void>;
}

/** Place of a value in an object that contains many, in bytes, with the record around it. */
export interface ValuePlace {
  readonly offset: number;
  readonly length: number;
  /** Bytes that `get` allocates for the value. */
  readonly bytesTaken: number;
}

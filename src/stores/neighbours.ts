/** Values that lie side by side in one object far away, as the entries of a zip in S3 do. */
export interface Neighbours {
  /** Where a value lies in the object, as far as that is known before it is read; undefined where it is not in it. */
  placeOf(key: string): ValuePlace | undefined;
  /**
   * Reads a part of the object in one request. Until the function that it returns is called, `get` takes from it what
   * lies whole in it; the buffer is the caller's again then.
   *
   * @throws what `get` throws where the object cannot be read.
   */
  hold(
    part: Uint8Array,
    offset: number,
    options?: { readonly signal?: AbortSignal | undefined },
  ): Promise<() => void>;
}

/** Where a value lies in an object that holds many, in bytes, with what is stored around it. */
export interface ValuePlace {
  readonly offset: number;
  readonly length: number;
  /** Bytes that `get` takes for the value. */
  readonly bytesTaken: number;
}

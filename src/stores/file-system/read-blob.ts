import { throwIfAborted } from "../../util/abort.ts";
import { type RangeReader, type RangeReadOptions, resolveRange } from "../../util/byte-range.ts";
import { plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { GetOptions } from "../store.ts";
import { type BlobLike, browserError } from "./handles.ts";

/** Maximum number of bytes that the browser holds in addition to the target buffer. */
const STEP = 4 * 2 ** 20;

/** Returns what the browser reveals of the version of a file's bytes. */
export function blobVersion({ size, lastModified }: BlobLike): string | undefined {
  return lastModified === undefined ? undefined : `${size}-${lastModified}`;
}

/** Implements `get` of a store for a value that is a blob. */
export async function readBlob(
  blob: BlobLike,
  { range, allocate = plainBuffers.take, signal }: GetOptions,
): Promise<Uint8Array> {
  const { offset, length } = resolveRange(range, blob.size);
  const bytes = allocate(length);
  await fill(blob, offset, bytes, signal);
  return bytes;
}

async function fill(
  blob: BlobLike,
  offset: number,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (let at = 0; at < bytes.length; at += STEP) {
    throwIfAborted(signal);
    const end = Math.min(bytes.length, at + STEP);
    const part = await blob.slice(offset + at, offset + end).arrayBuffer();
    if (part.byteLength !== end - at) {
      const found = at + part.byteLength;
      throw new ZarrflowError("short-read", "the file ends too early", { expected: bytes.length, found });
    }
    bytes.set(new Uint8Array(part), at);
  }
  throwIfAborted(signal);
}

export class BlobReader implements RangeReader {
  readonly size: number;
  readonly #blob: BlobLike;
  readonly #description: string;

  /** @param description describes the blob, such as `file era5.zarr.zip` */
  constructor(blob: BlobLike, description: string) {
    this.#blob = blob;
    this.#description = description;
    this.size = blob.size;
  }

  /** @throws `source-changed` if the file has changed since it was chosen; `short-read` */
  async read(offset: number, length: number, { signal, into }: RangeReadOptions = {}): Promise<Uint8Array> {
    const bytes = into ?? new Uint8Array(length);
    try {
      await fill(this.#blob, offset, bytes, signal);
      return bytes;
    } catch (error) {
      throw browserError(error, { store: this.#description });
    }
  }

  async version(): Promise<string | undefined> {
    return blobVersion(this.#blob);
  }
}

/** Bytes that are passed on at a time: each call to a stream of the browser takes as long as copying this many. */
const PIECE = 256 * 1024;

/** Collects pieces of any size and passes them on in larger ones. */
export class Gathered {
  readonly #handOver: (bytes: Uint8Array) => Promise<void>;
  readonly #areKept: boolean;
  #piece = new Uint8Array(PIECE);
  #used = 0;

  /** @param areKept true if the receiver keeps the bytes, so that each piece needs its own buffer */
  constructor(handOver: (bytes: Uint8Array) => Promise<void>, { areKept }: { readonly areKept: boolean }) {
    this.#handOver = handOver;
    this.#areKept = areKept;
  }

  /** Resolves when more can be taken; the caller may then reuse `bytes`. */
  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      const part = bytes.subarray(at, at + PIECE - this.#used);
      this.#piece.set(part, this.#used);
      this.#used += part.length;
      at += part.length;
      if (this.#used === PIECE) await this.flush();
    }
  }

  async flush(): Promise<void> {
    const bytes = this.#piece.subarray(0, this.#used);
    this.#used = 0;
    if (this.#areKept) this.#piece = new Uint8Array(PIECE);
    if (bytes.length > 0) await this.#handOver(bytes);
  }
}

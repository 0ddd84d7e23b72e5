import { ZarrflowError } from "../../util/errors.ts";
import type { StoreWriter, WriterOptions } from "../store.ts";
import { MAX_S3_PARTS, partBytes } from "../store-memory.ts";
import { abortUpload, beginUpload, completeUpload, type MultipartUpload } from "./multipart-upload.ts";
import { checksummed } from "./put-object.ts";
import type { S3Client } from "./s3-client.ts";

/**
 * Writes an object: in one request where it is small, else in parts. Nothing is visible before `commit`. One part is
 * held in memory; parts are sized by `expectedSize`, and grow when there is more.
 */
export class MultipartWriter implements StoreWriter {
  readonly #client: S3Client;
  readonly #key: string;
  readonly #signal: AbortSignal | undefined;
  readonly #tags: string[] = [];
  #part: Uint8Array;
  #filled = 0;
  #upload: MultipartUpload | undefined;
  #written = 0;
  /** How many parts there are when they double. */
  #doubleAt: number;

  constructor(client: S3Client, key: string, { signal, expectedSize = 0 }: WriterOptions) {
    this.#client = client;
    this.#key = key;
    this.#signal = signal;
    this.#part = new Uint8Array(partBytes(expectedSize));
    this.#doubleAt = nextDoubling(Math.ceil(expectedSize / this.#part.length));
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === this.#part.length) await this.#uploadPart();
      const piece = bytes.subarray(at, at + this.#part.length - this.#filled);
      this.#part.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
    }
    this.#written += bytes.length;
  }

  async commit(): Promise<void> {
    const signal = this.#signal;
    if (this.#upload === undefined) {
      await this.#client.ask(this.#key, {}, { method: "PUT", ...this.#taken(), signal });
      return;
    }
    await this.#uploadPart();
    await completeUpload(this.#client, this.#upload, { tags: this.#tags, size: this.#written }, signal);
  }

  async abort(): Promise<void> {
    if (this.#upload !== undefined) await abortUpload(this.#client, this.#upload);
  }

  /** Uploads what the part holds, and makes room in it. */
  async #uploadPart(): Promise<void> {
    if (this.#tags.length === MAX_S3_PARTS) {
      throw new ZarrflowError("resource-limit", "the object has too many parts", { expected: MAX_S3_PARTS });
    }
    this.#upload ??= await beginUpload(this.#client, this.#key, this.#signal);
    const query = { partNumber: String(this.#tags.length + 1), uploadId: this.#upload.id };
    const request = { method: "PUT", ...this.#taken(), signal: this.#signal } as const;
    const { headers } = await this.#client.ask(this.#key, query, request);
    const tag = headers.get("etag");
    if (tag === null) throw new ZarrflowError("transient", "the server returns no ETag for a part");
    this.#tags.push(tag);
    this.#filled = 0;
    if (this.#tags.length < this.#doubleAt) return;
    this.#part = new Uint8Array(2 * this.#part.length);
    this.#doubleAt = nextDoubling(this.#tags.length);
  }

  /** What the part holds, as a body with its checksum. */
  #taken() {
    return checksummed(this.#part.subarray(0, this.#filled));
  }
}

/** Parts that double after each tenth of those left hold 5 TiB together, the most that an object may have. */
function nextDoubling(parts: number): number {
  return parts + Math.ceil((MAX_S3_PARTS - parts) / 10);
}

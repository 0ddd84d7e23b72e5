import { ZarrflowError } from "../../util/errors.ts";
import type { StoreWriter } from "../store.ts";
import { S3_PART_BYTES } from "../writer-memory.ts";
import { checksummed } from "./put-object.ts";
import type { S3Client } from "./s3-client.ts";
import { escaped, textOf } from "./xml.ts";

/** S3 takes so many parts; with those that double every `PARTS_A_SIZE` they hold 5 TiB, the most an object may have. */
const MOST_PARTS = 10_000;
const PARTS_A_SIZE = 1_000;

/**
 * Writes an object of unknown size: in one request where it is small, else in parts. Nothing is visible before
 * `commit`. One part is held in memory.
 */
export class MultipartWriter implements StoreWriter {
  readonly #client: S3Client;
  readonly #key: string;
  readonly #signal: AbortSignal | undefined;
  readonly #tags: string[] = [];
  #part = new Uint8Array(S3_PART_BYTES);
  #filled = 0;
  #uploadId: string | undefined;

  constructor(client: S3Client, key: string, signal: AbortSignal | undefined) {
    this.#client = client;
    this.#key = key;
    this.#signal = signal;
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === this.#part.length) {
        this.#uploadId ??= await this.#begin();
        await this.#upload(this.#uploadId);
      }
      const piece = bytes.subarray(at, at + this.#part.length - this.#filled);
      this.#part.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
    }
  }

  async commit(): Promise<void> {
    const signal = this.#signal;
    if (this.#uploadId === undefined) {
      await this.#client.ask(this.#key, {}, { method: "PUT", ...this.#taken(), signal });
      return;
    }
    await this.#upload(this.#uploadId);
    const parts = this.#tags.map(
      (tag, i) => `<Part><ETag>${escaped(tag)}</ETag><PartNumber>${i + 1}</PartNumber></Part>`,
    );
    const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    const query = { uploadId: this.#uploadId };
    const { text } = await this.#client.ask(this.#key, query, { method: "POST", body, signal });
    // An upload that fails late answers 200 with an error in its body.
    const code = textOf(text, "Code");
    if (code === undefined) return;
    throw new ZarrflowError("transient", "the parts could not be joined", { key: this.#key, found: code });
  }

  async abort(): Promise<void> {
    if (this.#uploadId === undefined) return;
    await this.#client.ask(this.#key, { uploadId: this.#uploadId }, { method: "DELETE" });
  }

  /** Uploads what the part holds, and makes room in it. */
  async #upload(uploadId: string): Promise<void> {
    if (this.#tags.length === MOST_PARTS) {
      throw new ZarrflowError("resource-limit", "the object has too many parts", { expected: MOST_PARTS });
    }
    const query = { partNumber: String(this.#tags.length + 1), uploadId };
    const request = { method: "PUT", ...this.#taken(), signal: this.#signal } as const;
    const { headers } = await this.#client.ask(this.#key, query, request);
    const tag = headers.get("etag");
    if (tag === null) throw new ZarrflowError("transient", "the server does not tell the tag of a part");
    this.#tags.push(tag);
    this.#filled = 0;
    if (this.#tags.length % PARTS_A_SIZE === 0) this.#part = new Uint8Array(2 * this.#part.length);
  }

  async #begin(): Promise<string> {
    const request = { method: "POST", signal: this.#signal } as const;
    const { text } = await this.#client.ask(this.#key, { uploads: "" }, request);
    const id = textOf(text, "UploadId");
    if (id === undefined) throw new ZarrflowError("transient", "the server does not begin an upload");
    return id;
  }

  /** What the part holds, as a body with its checksum. */
  #taken() {
    return checksummed(this.#part.subarray(0, this.#filled));
  }
}

import { ZarrflowError } from "../../util/errors.ts";
import type { UploadOptions, UploadWriter } from "../store.ts";
import { MAX_S3_PARTS, partBytes, S3_PART_BYTES } from "../store-memory.ts";
import type { BegunUpload, UploadedPart } from "../upload.ts";
import { listParts } from "./list-parts.ts";
import { abortUpload, beginUpload, completeUpload, type MultipartUpload } from "./multipart-upload.ts";
import { PartSender } from "./part-sender.ts";
import { checksummed } from "./put-object.ts";
import type { S3Client } from "./s3-client.ts";

/** Milliseconds to wait for parts in flight when an upload is left. */
const LEFT_WITHIN = 3_000;

/**
 * Writes an object, in one request if it is small, otherwise in parts. As many parts are sent at once as fit in
 * `memory` beside the one that is being filled. Nothing is visible before `commit`. The part size depends on
 * `expectedSize`, and grows if there is more.
 */
export class MultipartWriter implements UploadWriter {
  readonly kept: readonly UploadedPart[];
  readonly #client: S3Client;
  readonly #key: string;
  readonly #signal: AbortSignal | undefined;
  readonly #onBegun: UploadOptions["onBegun"];
  readonly #onPart: UploadOptions["onPart"];
  /** Indexed by part number minus 1. */
  readonly #tags: string[] = [];
  readonly #sender: PartSender;
  /** Number of the last part that was sent. */
  #number = 0;
  #part: Uint8Array;
  #filled = 0;
  #upload: MultipartUpload | undefined;
  #written = 0;
  /** Number of parts at which the part size doubles. */
  #doubleAt: number;

  private constructor(
    client: S3Client,
    key: string,
    { signal, expectedSize = 0, memory = 0, onBegun, onPart }: UploadOptions,
    found: FoundUpload | undefined,
  ) {
    this.#client = client;
    this.#key = key;
    this.#signal = signal;
    this.#onBegun = onBegun;
    this.#onPart = onPart;
    this.#upload = found?.upload;
    this.kept = found?.kept ?? [];
    for (const { number, size, tag } of this.kept) {
      this.#tags[number - 1] = tag;
      this.#number = number;
      this.#written += size;
    }
    this.#sender = new PartSender((...part) => this.#send(...part), { memory, signal });
    this.#part = new Uint8Array(Math.max(partBytes(expectedSize), this.kept.at(-1)?.size ?? 0));
    this.#doubleAt = nextDoubling(Math.max(this.kept.length, Math.ceil(expectedSize / this.#part.length)));
  }

  /** Starts an object, or continues an upload. */
  static async open(client: S3Client, key: string, options: UploadOptions): Promise<MultipartWriter> {
    const found = options.begun && (await findUpload(client, key, options.begun, options.signal));
    return new MultipartWriter(client, key, options, found);
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      if (this.#filled === this.#part.length) await this.#nextPart();
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
      await this.#client.ask(
        this.#key,
        {},
        { method: "PUT", ...checksummed(this.#part.subarray(0, this.#filled)), signal },
      );
      return;
    }
    await this.#nextPart();
    await this.#sender.sent();
    await completeUpload(this.#client, this.#upload, { tags: this.#tags, size: this.#written }, signal);
  }

  async abort(): Promise<void> {
    await this.#sender.end(0);
    if (this.#upload !== undefined) await abortUpload(this.#client, this.#upload);
  }

  async leave(): Promise<void> {
    await this.#sender.end(LEFT_WITHIN);
  }

  /** Sends the filled part and gets a buffer for the next. */
  async #nextPart(): Promise<void> {
    if (this.#number === MAX_S3_PARTS) {
      throw new ZarrflowError("resource-limit", "the object has too many parts", { expected: MAX_S3_PARTS });
    }
    if (this.#upload === undefined) {
      this.#upload = await beginUpload(this.#client, this.#key, this.#signal);
      this.#onBegun?.(this.#upload.id);
    }
    this.#number++;
    const isDoubled = this.#number >= this.#doubleAt;
    if (isDoubled) this.#doubleAt = nextDoubling(this.#number);
    const bytes = isDoubled ? 2 * this.#part.length : this.#part.length;
    this.#part = await this.#sender.send(this.#part, this.#filled, this.#number, bytes);
    this.#filled = 0;
  }

  async #send(part: Uint8Array, number: number, signal: AbortSignal): Promise<void> {
    const query = { partNumber: String(number), uploadId: this.#upload?.id ?? "" };
    const request = { method: "PUT", ...checksummed(part), signal } as const;
    const { headers } = await this.#client.ask(this.#key, query, request);
    const tag = headers.get("etag");
    if (tag === null) throw new ZarrflowError("transient", "the server returns no ETag for a part");
    this.#tags[number - 1] = tag;
    this.#onPart?.({ number, size: part.length, tag });
  }
}

/**
 * Returns the number of parts at which the part size doubles next. Doubling after each tenth of the remaining
 * parts lets all parts together hold 5 TiB, the largest object.
 */
function nextDoubling(parts: number): number {
  return parts + Math.ceil((MAX_S3_PARTS - parts) / 10);
}

/** An existing upload, and its parts that are as recorded. */
interface FoundUpload {
  readonly upload: MultipartUpload;
  readonly kept: readonly UploadedPart[];
}

/** Undefined if the upload was completed or aborted. */
async function findUpload(
  client: S3Client,
  key: string,
  { id, parts }: BegunUpload,
  signal: AbortSignal | undefined,
): Promise<FoundUpload | undefined> {
  const listed = await listParts(client, { key, id }, signal);
  if (listed === undefined) return undefined;
  const there = new Map(listed.parts.map((part) => [part.number, part]));
  const other = parts.findIndex(({ number, size, tag }) => {
    const found = there.get(number);
    return size < S3_PART_BYTES || found?.size !== size || unquoted(found.tag) !== unquoted(tag);
  });
  return { upload: { key, id, begun: listed.at }, kept: other < 0 ? parts : parts.slice(0, other) };
}

/** Removes quotes, because servers are inconsistent about them. */
function unquoted(tag: string): string {
  return tag.replaceAll('"', "");
}

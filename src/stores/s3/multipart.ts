import { followSignals } from "../../util/abort.ts";
import { crc32 } from "../../util/crc32.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { parseContentRange } from "../http/headers.ts";
import type { BegunUpload, UploadedPart, UploadOptions, UploadWriter } from "../store.ts";
import { MAX_S3_PARTS, partBytes, S3_PART_BYTES } from "../store-traits.ts";
import { listParts } from "./listings.ts";
import type { S3Client } from "./s3-client.ts";
import { elementText, escaped } from "./xml.ts";

/** A multipart upload, which is invisible until its parts are joined. */
export interface MultipartUpload {
  readonly key: string;
  readonly id: string;
  /** Start time in milliseconds by the server's clock; NaN if the server does not state it. */
  readonly begun: number;
}

/** Milliseconds for which a server may be silent while it joins parts. */
const JOINING_TIMEOUT = 300_000;
/** Milliseconds by which two times of one server may differ for the same moment. */
const CLOCK_STEP = 2_000;
/** Milliseconds allowed for aborting an upload, because the caller is about to end. */
const GIVING_UP_TIMEOUT = 5_000;

export async function beginUpload(
  client: S3Client,
  key: string,
  signal: AbortSignal | undefined,
): Promise<MultipartUpload> {
  const { text, headers } = await client.ask(key, { uploads: "" }, { method: "POST", signal });
  const id = elementText(text, "UploadId");
  if (id === undefined) throw new ZarrflowError("transient", "the server did not start the upload");
  return { key, id, begun: Date.parse(headers.get("date") ?? "") };
}

/** Joins the parts, identified by their tags, into a value of `size` bytes. */
export async function completeUpload(
  client: S3Client,
  upload: MultipartUpload,
  { tags, size }: { readonly tags: readonly string[]; readonly size: number },
  signal: AbortSignal | undefined,
): Promise<void> {
  const parts = tags.map(
    (tag, i) => `<Part><ETag>${escaped(tag)}</ETag><PartNumber>${i + 1}</PartNumber></Part>`,
  );
  const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
  const root = "CompleteMultipartUploadResult";
  const request = { method: "POST", body, root, timeout: JOINING_TIMEOUT, signal } as const;
  try {
    await client.ask(upload.key, { uploadId: upload.id }, request);
  } catch (error) {
    if (!isZarrflowError(error, "source-changed") || !(await isJoined(client, upload, size, signal)))
      throw error;
  }
}

/** Aborts an upload, so that the server discards its parts. Succeeds if the upload is gone. */
export async function abortUpload(client: S3Client, { key, id }: MultipartUpload): Promise<void> {
  try {
    const signal = AbortSignal.timeout(GIVING_UP_TIMEOUT);
    await client.ask(key, { uploadId: id }, { method: "DELETE", signal });
  } catch (error) {
    if (isZarrflowError(error, "source-changed")) return;
    if (isZarrflowError(error)) throw error;
    throw new ZarrflowError("transient", "an upload could not be aborted", { found: "no response in time" });
  }
}

/**
 * True if the object was made by this upload. If the response to the request to join is lost, the retried request finds
 * no upload.
 */
async function isJoined(
  client: S3Client,
  { key, begun }: MultipartUpload,
  size: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { headers } = await client.head(key, signal);
  const written = Date.parse(headers.get("last-modified") ?? "");
  const found =
    parseContentRange(headers.get("content-range"))?.size ?? Number(headers.get("content-length"));
  return found === size && written >= begun - CLOCK_STEP;
}

/** Sends parts, several at a time, and owns their buffers. */
export class PartSender {
  readonly #send: (part: Uint8Array, number: number, signal: AbortSignal) => Promise<void>;
  /** Bytes of all parts in memory, including the one that is being filled. */
  readonly #memory: number;
  readonly #following: ReturnType<typeof followSignals>;
  readonly #giveUp = new AbortController();
  readonly #sending = new Set<Promise<void>>();
  readonly #free: Uint8Array[] = [];
  #failure: { readonly reason: unknown } | undefined;

  /** @param memory bytes of the parts that may be in memory at a time; one part is always allowed */
  constructor(
    send: (part: Uint8Array, number: number, signal: AbortSignal) => Promise<void>,
    { memory, signal }: { readonly memory: number; readonly signal: AbortSignal | undefined },
  ) {
    this.#send = send;
    this.#memory = memory;
    this.#following = followSignals(signal, this.#giveUp.signal);
  }

  /**
   * Sends the first `filled` bytes of a part, and takes over its buffer. Resolves to a buffer of `bytes` bytes
   * when there is room for it.
   *
   * @throws the error of sending this part or an earlier one.
   */
  async send(part: Uint8Array, filled: number, number: number, bytes: number): Promise<Uint8Array> {
    const sending = this.#send(part.subarray(0, filled), number, this.#following.signal)
      .then(
        () => void this.#free.push(part),
        (reason) => {
          this.#failure ??= { reason };
        },
      )
      .finally(() => this.#sending.delete(sending));
    this.#sending.add(sending);
    const most = Math.max(1, Math.floor(this.#memory / Math.max(bytes, part.length)));
    while (this.#sending.size >= most) await Promise.race(this.#sending);
    this.#assertSound();
    const free = this.#free.pop();
    if (free?.length === bytes) return free;
    this.#free.length = 0;
    return new Uint8Array(bytes);
  }

  /** Resolves when all parts are sent. @throws as `send` */
  async sent(): Promise<void> {
    await Promise.all(this.#sending);
    this.#following.end();
    this.#assertSound();
  }

  /** Resolves when no part is being sent. Sends in flight after `afterMs` milliseconds are aborted. */
  async end(afterMs: number): Promise<void> {
    const timer = setTimeout(() => this.#giveUp.abort(), afterMs);
    await Promise.all(this.#sending);
    clearTimeout(timer);
    this.#following.end();
  }

  #assertSound(): void {
    if (this.#failure) throw this.#failure.reason;
  }
}

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
    if (tag === null) throw new ZarrflowError("transient", "the server returned no ETag for a part");
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

/** Adds the header with which the server checks that a body arrived intact. */
export function checksummed(body: Uint8Array): {
  readonly body: Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
} {
  const crc = new DataView(new ArrayBuffer(4));
  crc.setUint32(0, crc32(body));
  return {
    body,
    headers: { "x-amz-checksum-crc32": btoa(String.fromCharCode(...new Uint8Array(crc.buffer))) },
  };
}

/**
 * Writes an object if the key is missing. Returns false if it exists, even from an attempt whose response was lost.
 */
export async function putIfAbsent(
  client: S3Client,
  key: string,
  bytes: Uint8Array,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { body, headers } = checksummed(bytes);
  const { status } = await client.ask(
    key,
    {},
    { method: "PUT", body, headers: { ...headers, "if-none-match": "*" }, answers: [412], signal },
  );
  return status !== 412;
}

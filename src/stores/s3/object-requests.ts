import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { abortUpload, beginUpload, checksummed, completeUpload } from "./multipart.ts";
import type { S3Client } from "./s3-client.ts";
import { s3Failure } from "./s3-failure.ts";
import { elements, elementText, escaped } from "./xml.ts";

export interface CopiedObject {
  readonly bucket: string;
  readonly key: string;
  readonly size: number;
  /** Entity tag without quotes. If it differs, another object has taken the place, and is not copied. */
  readonly etag?: string | undefined;
}

export interface CopyObjectOptions {
  readonly signal?: AbortSignal | undefined;
  /** Bytes of the largest object that is copied in one request, and of the parts of larger ones. */
  readonly largest?: number;
}

/** Maximum number of bytes that S3 copies in one request. */
const LARGEST = 5 * 2 ** 30;
/** Milliseconds for which a server may be silent while it copies. */
const COPYING_TIMEOUT = 300_000;

/**
 * Lets the server copy an object to `key`, in parts if it is large. On failure, no parts are left.
 *
 * @returns false if there is no such object
 * @throws `source-changed` if another object has taken its place.
 */
export async function copyObject(
  client: S3Client,
  key: string,
  from: CopiedObject,
  { signal, largest = LARGEST }: CopyObjectOptions = {},
): Promise<boolean> {
  const copy = async (query: Readonly<Record<string, string>>, range?: string) => {
    const headers = { ...sourceHeaders(from), ...(range && { "x-amz-copy-source-range": range }) };
    const answer = await client.ask(key, query, {
      method: "PUT",
      headers,
      answers: [404, 412],
      timeout: COPYING_TIMEOUT,
      signal,
    });
    if (answer.status === 412)
      throw new ZarrflowError("source-changed", "the object changed since it was listed");
    return answer;
  };
  if (from.size <= largest) return (await copy({})).status !== 404;

  const upload = await beginUpload(client, key, signal);
  try {
    const tags: string[] = [];
    for (let start = 0; start < from.size; start += largest) {
      const end = Math.min(start + largest, from.size) - 1;
      const query = { partNumber: String(tags.length + 1), uploadId: upload.id };
      const part = await copy(query, `bytes=${start}-${end}`);
      if (part.status === 404) throw new ZarrflowError("source-changed", "the object was removed");
      tags.push(tagOf(part.text));
    }
    await completeUpload(client, upload, { tags, size: from.size }, signal);
    return true;
  } catch (error) {
    await abortUpload(client, upload).catch(() => {});
    throw error;
  }
}

function sourceHeaders({ bucket, key, etag }: CopiedObject): Record<string, string> {
  const path = [bucket, ...key.split("/")].map(encodeURIComponent).join("/");
  return {
    "x-amz-copy-source": `/${path}`,
    ...(etag !== undefined && { "x-amz-copy-source-if-match": `"${etag}"` }),
  };
}

function tagOf(answer: string): string {
  const tag = elementText(answer, "ETag");
  if (tag !== undefined) return tag;
  throw new ZarrflowError("transient", "the server returned no ETag for a part");
}

/** Maximum number of objects that S3 removes in one request. */
const MAX_DELETED = 1000;
/** Concurrent requests if each removes one object. */
const AT_ONCE = 16;
/** Characters that XML cannot contain. */
const NO_XML = /[\p{Cc}\ufffe\uffff]/u;

/**
 * Removes objects, 1,000 in one request, or one by one if the server does not support that. Missing objects count
 * as removed.
 *
 * @throws as `S3Client.ask`
 */
export async function deleteObjects(
  client: S3Client,
  keys: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const together = keys.filter((key) => !NO_XML.test(key));
  try {
    for (const batch of batches(together, MAX_DELETED)) await deleteTogether(client, batch, signal);
  } catch (error) {
    if (!isZarrflowError(error, "unsupported-operation")) throw error;
    return deleteEach(client, keys, signal);
  }
  await deleteEach(
    client,
    keys.filter((key) => NO_XML.test(key)),
    signal,
  );
}

export async function deleteObject(
  client: S3Client,
  key: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await client.ask(key, {}, { method: "DELETE", signal });
}

async function deleteEach(
  client: S3Client,
  keys: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const batch of batches(keys, AT_ONCE)) {
    await Promise.all(batch.map((key) => deleteObject(client, key, signal)));
  }
}

/** Removes objects with one request, and retries those that failed transiently. */
async function deleteTogether(
  client: S3Client,
  keys: readonly string[],
  signal: AbortSignal | undefined,
): Promise<void> {
  let left = keys;
  const once = async () => {
    const objects = left.map((key) => `<Object><Key>${escaped(key)}</Key></Object>`);
    const body = new TextEncoder().encode(`<Delete><Quiet>true</Quiet>${objects.join("")}</Delete>`);
    const request = { method: "POST", ...checksummed(body), root: "DeleteResult", signal } as const;
    const { text, headers } = await client.askOnce("", { delete: "" }, request);
    const failures = elements(text, "Error");
    const [first] = failures;
    if (first === undefined) return;
    const failed = new Set(failures.map((failure) => elementText(failure, "Key")));
    const again = left.filter((key) => failed.has(key));
    if (again.length > 0) left = again;
    throw s3Failure({ status: 500, statusText: "", headers }, elementText(first, "Code")).addContext({
      key: elementText(first, "Key") ?? "",
    });
  };
  await client.retry({ operation: "DELETE", key: `${keys.length} keys` }, once, signal);
}

function* batches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

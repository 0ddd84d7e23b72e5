import { ZarrflowError } from "../../util/errors.ts";
import { abortUpload, beginUpload, completeUpload } from "./multipart-upload.ts";
import type { S3Client } from "./s3-client.ts";
import { textOf } from "./xml.ts";

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
  const tag = textOf(answer, "ETag");
  if (tag !== undefined) return tag;
  throw new ZarrflowError("transient", "the server returns no ETag for a part");
}

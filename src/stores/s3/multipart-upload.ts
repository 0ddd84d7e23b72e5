import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { parseContentRange } from "../http/value-headers.ts";
import type { S3Client } from "./s3-client.ts";
import { escaped, textOf } from "./xml.ts";

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
  const id = textOf(text, "UploadId");
  if (id === undefined) throw new ZarrflowError("transient", "the server did not start the upload");
  return { key, id, begun: Date.parse(headers.get("date") ?? "") };
}

/** Joins the parts, given by their tags, to an object of `size` bytes. */
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
 * True if the object is this upload's. If the response to the request to join is lost, the retried request finds
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

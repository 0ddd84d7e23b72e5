import { isZarrflowError } from "../../util/errors.ts";
import { checksummed } from "./put-object.ts";
import type { S3Client } from "./s3-client.ts";
import { s3Failure } from "./s3-failure.ts";
import { elements, escaped, textOf } from "./xml.ts";

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
    const failed = new Set(failures.map((failure) => textOf(failure, "Key")));
    const again = left.filter((key) => failed.has(key));
    if (again.length > 0) left = again;
    throw s3Failure({ status: 500, statusText: "", headers }, textOf(first, "Code")).addContext({
      key: textOf(first, "Key") ?? "",
    });
  };
  await client.retry({ operation: "DELETE", key: `${keys.length} keys` }, once, signal);
}

function* batches<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}

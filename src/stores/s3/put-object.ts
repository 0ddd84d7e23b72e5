import { crc32 } from "../../util/crc32.ts";
import type { S3Client } from "./s3-client.ts";

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

import { crc32 } from "../../util/crc32.ts";

/** A body with the header by which the server checks that it came whole. */
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

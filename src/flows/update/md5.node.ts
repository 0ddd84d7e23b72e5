import { createHash } from "node:crypto";

/** The MD5 of pieces, in hexadecimal digits. */
export async function md5(pieces: AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash("md5");
  for await (const bytes of pieces) hash.update(bytes);
  return hash.digest("hex");
}

import { digest } from "../../src/flows/digest.ts";

/** The digest of an array's items, or of the first array of a group. */
export async function digestOf(...of: Parameters<typeof digest>): Promise<string | undefined> {
  for await (const { sha256 } of digest(...of)) return sha256;
  return undefined;
}

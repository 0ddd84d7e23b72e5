import { builtin } from "./platform.node.ts";

/** A hash that is being computed. */
export interface Hash {
  update(bytes: Uint8Array | string): Hash;
  digest(): Uint8Array;
}

/** What begins hashes: Node's, or of our own where there is none, which takes four times as long. */
export async function hasher(): Promise<() => Hash> {
  const crypto = builtin("node:crypto");
  if (crypto) return () => crypto.createHash("sha256");
  const { Sha256 } = await import("./sha256.ts");
  return () => new Sha256();
}

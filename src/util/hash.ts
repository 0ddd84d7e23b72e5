import { builtin } from "./platform.node.ts";

/** An incremental hash. */
export interface Hash {
  update(bytes: Uint8Array | string): Hash;
  digest(): Uint8Array;
}

/**
 * Returns a factory of SHA-256 hashes: Node's, or our own where Node's is unavailable, which takes four times as
 * long.
 */
export async function hasher(): Promise<() => Hash> {
  const crypto = builtin("node:crypto");
  if (crypto) return () => crypto.createHash("sha256");
  const { Sha256 } = await import("./sha256.ts");
  return () => new Sha256();
}

import type { Deflate } from "./deflate.ts";
import { nodeZlib } from "./node-zlib.ts";

/** Node's zlib, or fflate where there is none. */
export async function loadDeflate(): Promise<Deflate> {
  const zlib = await nodeZlib();
  if (zlib) return (await import("./node-deflate.ts")).nodeDeflate(zlib);
  return (await import("./fflate-deflate.ts")).fflateDeflate;
}

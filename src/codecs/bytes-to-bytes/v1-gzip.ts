import { loadDeflateCodec } from "./deflate/codec.ts";

/**
 * `v1.gzip`: what the name `gzip` means in Zarr v1, a zlib stream by its writer's rule, a gzip file by its words. The
 * first bytes tell; written is the former.
 */
export const loadV1Gzip = () =>
  loadDeflateCodec({
    name: "v1.gzip",
    writes: "zlib",
    formatOf: (source) => (isGzip(source) ? "gzip" : "zlib"),
    leastLevel: 0,
  });

/** No zlib stream begins so. */
function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

import { loadDeflateCodec } from "./deflate/codec.ts";

/** `gzip`: RFC 1952; several members are read. */
export const loadGzip = () => loadDeflateCodec({ name: "gzip", writes: "gzip", leastLevel: -1 });

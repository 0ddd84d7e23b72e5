import { loadDeflateCodec } from "./deflate/codec.ts";

/** `gzip`: RFC 1952; several members are read. @see V2-54 */
export const loadGzip = () => loadDeflateCodec({ name: "gzip", writes: "gzip", leastLevel: -1 });

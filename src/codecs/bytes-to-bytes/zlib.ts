import { loadDeflateCodec } from "./deflate/codec.ts";

/** `zlib`: RFC 1950. */
export const loadZlib = () => loadDeflateCodec({ name: "zlib", writes: "zlib", leastLevel: -1 });

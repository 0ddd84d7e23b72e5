import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";
import { assertNoMore, parseLevel } from "../../option-parts.ts";

export const lzma = {
  name: "lzma",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v1: "lzma", v2: "lzma", v3Draft: "lzma", v3: "numcodecs.lzma" },
  costClass: "other",
  parseOption([preset, ...more]) {
    assertNoMore(more);
    return { format: 1, check: -1, preset: preset === undefined ? null : parseLevel(preset), filters: null };
  },
  allowed: { preset: [0, 9] },
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createLzma,
} as const satisfies CodecDescriptor;

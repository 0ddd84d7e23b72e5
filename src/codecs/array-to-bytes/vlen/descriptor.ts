import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

const vlen = {
  kind: "array-to-bytes",
  role: "serializer",
  parts: [],
  costClass: "none",
  engines: TYPESCRIPT,
} as const satisfies Partial<CodecDescriptor>;

export const vlenUtf8 = {
  ...vlen,
  name: "vlen-utf8",
  aliases: { v2: "vlen-utf8", v3: "vlen-utf8" },
  settings: [],
  objects: "string",
  load: async () => (await import("./codec.ts")).createVlenUtf8,
} as const satisfies CodecDescriptor;

export const vlenBytes = {
  ...vlen,
  name: "vlen-bytes",
  aliases: { v2: "vlen-bytes", v3: "vlen-bytes" },
  settings: [],
  objects: "binary",
  load: async () => (await import("./codec.ts")).createVlenBytes,
} as const satisfies CodecDescriptor;

export const vlenArray = {
  ...vlen,
  name: "vlen-array",
  aliases: { v2: "vlen-array" },
  objects: "object",
  load: async () => (await import("./vlen-array.ts")).createVlenArray,
} as const satisfies CodecDescriptor;

import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

/** Objects, or as a filter numbers of one type, in nested lists. */
export const json2 = {
  name: "json2",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "json2" },
  objects: "object",
  orderless: true,
  parts: [],
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createJson2,
} as const satisfies CodecDescriptor;

export const msgpack2 = {
  ...json2,
  name: "msgpack2",
  aliases: { v2: "msgpack2" },
  load: async () => (await import("./codec.ts")).createMsgpack2,
} as const;

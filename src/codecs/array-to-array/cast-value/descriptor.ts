import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const castValue = {
  name: "cast_value",
  kind: "array-to-array",
  role: "filter",
  aliases: { v3: "cast_value" },
  parts: [{ setting: "data_type", is: "word", isNeeded: true }],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createCastValue,
} as const satisfies CodecDescriptor;

import { type CodecDescriptor, TYPESCRIPT } from "../../descriptor.ts";

export const scaleOffset = {
  name: "scale_offset",
  kind: "array-to-array",
  role: "filter",
  aliases: { v3: "scale_offset" },
  parts: [
    { setting: "scale", is: "number", isNeeded: true },
    { setting: "offset", is: "number" },
  ],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createScaleOffset,
} as const satisfies CodecDescriptor;

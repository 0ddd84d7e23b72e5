import { type CodecDescriptor, NUMBERS, TYPESCRIPT } from "../../descriptor.ts";

export const fixedscaleoffset = {
  name: "fixedscaleoffset",
  kind: "bytes-to-bytes",
  role: "filter",
  aliases: { v2: "fixedscaleoffset", v3: "numcodecs.fixedscaleoffset" },
  itemFilter: { encodes: NUMBERS, input: "dtype" },
  parts: [
    { setting: "offset", is: "number", isNeeded: true },
    { setting: "scale", is: "number", isNeeded: true },
    { setting: "astype", is: "type" },
  ],
  isLossy: true,
  costClass: "other",
  engines: TYPESCRIPT,
  load: async () => (await import("./codec.ts")).createFixedScaleOffset,
} as const satisfies CodecDescriptor;

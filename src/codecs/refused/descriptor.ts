import type { CodecDescriptor } from "../descriptor.ts";

/** Documents that name it are refused as they are read. */
export const pickle = {
  name: "pickle",
  kind: "array-to-bytes",
  role: "serializer",
  aliases: { v2: "pickle" },
  costClass: "other",
  refused: "reading pickles runs whatever code their author put in",
} as const satisfies CodecDescriptor;

export const pcodec = {
  name: "pcodec",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "pcodec", v3: "numcodecs.pcodec" },
  costClass: "other",
  refused: "there is no implementation of Pco in JavaScript; convert the array with zarr-python",
} as const satisfies CodecDescriptor;

export const zfpy = {
  name: "zfpy",
  kind: "bytes-to-bytes",
  role: "compressor",
  aliases: { v2: "zfpy", v3: "numcodecs.zfpy" },
  costClass: "other",
  refused: "there is no implementation of ZFP in JavaScript; convert the array with zarr-python",
} as const satisfies CodecDescriptor;

import type { CodecFactory } from "../../codec.ts";
import { fletcher32 } from "../../kernels/fletcher32.ts";
import { checksumCodec } from "./checksum.ts";

/** `fletcher32`: guards the bytes with their Fletcher-32 as in HDF5, at the end. */
export const createFletcher32: CodecFactory = () => checksumCodec("fletcher32", "end", fletcher32);

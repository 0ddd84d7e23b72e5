import type { BlockKernels } from "../../kernels/kernel-types.ts";
import { kernels } from "../../kernels/kernels.ts";
import type { BloscHeader } from "./frame.ts";

/** The kernels that do whole blocks of this kind, where there are any. */
export function blockKernels({ inner, blockSize }: BloscHeader): BlockKernels | undefined {
  const { blocks } = kernels();
  return inner === "lz4" && blocks && blockSize <= blocks.maxSize ? blocks : undefined;
}

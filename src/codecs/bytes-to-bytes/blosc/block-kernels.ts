import type { BlockKernels } from "../../kernels/kernel-types.ts";
import { kernels } from "../../kernels/kernels.ts";
import type { BloscHeader } from "./frame.ts";
import type { InnerCodec } from "./inner-codecs.ts";

/** The kernels that do whole blocks of this kind, where there are any. */
export function blockKernels(
  { inner: name, blockSize }: BloscHeader,
  inner: InnerCodec,
): BlockKernels | undefined {
  const { blocks } = kernels();
  if (inner.kernelEffort === undefined) return undefined;
  return blocks.inner.includes(name) && blockSize <= blocks.maxSize ? blocks : undefined;
}

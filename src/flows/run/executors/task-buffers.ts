import { openKernelHeap, WORTH_A_HEAP } from "../../../codecs/kernels/kernels.ts";
import { BufferPool } from "../../../streams/buffer-pool.ts";
import type { Plan } from "../../plan/plan.ts";
import { strategyNamed } from "../../plan/strategies/strategies.ts";

/** Buffers for the tasks of one thread. */
export interface TaskBuffers {
  readonly buffers: BufferPool;
  close(): void;
}

export interface TaskBuffersOptions {
  /** Maximum number of bytes in all of them. */
  readonly limit: number;
  readonly onChange?: (bytes: number) => void;
  /**
   * True if buffers are handed to code that may detach them. Buffers in kernel memory cannot leave it, so none are
   * used.
   */
  readonly leave?: boolean;
}

/**
 * Creates buffers for the tasks of one thread. If there is enough to decode, they are in the memory of the kernels,
 * where values are read and written and chunks are encoded and decoded without copies.
 */
export function taskBuffers(
  { jobs }: Pick<Plan, "jobs">,
  { limit, onChange, leave = false }: TaskBuffersOptions,
): TaskBuffers {
  const open = leave || decodedBytes(jobs) < WORTH_A_HEAP ? undefined : openKernelHeap();
  const buffers = new BufferPool(limit, { ...(onChange && { onChange }), source: open?.heap });
  return {
    buffers,
    close() {
      buffers.clear();
      open?.close();
    },
  };
}

function decodedBytes(jobs: Plan["jobs"]): number {
  const decoded = jobs.filter(({ strategy }) => strategyNamed(strategy).decodes);
  return decoded.reduce((sum, { chunksRead, source }) => sum + chunksRead * source.decodedSize, 0);
}

import { openKernelHeap, WORTH_A_HEAP } from "../../../codecs/kernels/kernels.ts";
import { BufferPool } from "../../../streams/buffer-pool.ts";
import type { Plan } from "../../plan/plan.ts";
import { strategyNamed } from "../../plan/strategies/strategies.ts";

/** The buffers of one thread's tasks. */
export interface TaskBuffers {
  readonly buffers: BufferPool;
  close(): void;
}

export interface TaskBuffersOptions {
  /** Bytes that they may hold together. */
  readonly limit: number;
  readonly onChange?: (bytes: number) => void;
  /** Whether buffers are handed to others, who may take them away: those of the kernels' memory stay in it. */
  readonly leave?: boolean;
}

/**
 * Buffers for the tasks of one thread: in the memory of the kernels, where these have enough to do, so that values are read
 * and written and chunks are encoded and decoded where they lie.
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

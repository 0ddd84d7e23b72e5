import { openKernelHeap, WORTH_A_HEAP } from "../../../codecs/kernels/kernels.ts";
import { BufferPool } from "../../../streams/buffer-pool.ts";
import type { Plan } from "../../plan/plan.ts";
import { strategyNamed } from "../../plan/strategies/strategies.ts";
import type { SharedScheduler } from "./shared-scheduler.ts";

/** The buffers of one thread's tasks. */
export interface TaskBuffers {
  readonly buffers: BufferPool;
  close(): void;
}

export interface TaskBuffersOptions {
  readonly control: SharedScheduler;
  /** Whether buffers are handed to another thread, which takes them away: those of the kernels' memory stay in it. */
  readonly leave?: boolean;
}

/**
 * Buffers for the tasks of one of so many threads: in the memory of the kernels, where these have enough to do, so that
 * files are read and written and chunks are encoded and decoded where they lie.
 */
export function taskBuffers(
  { budget, jobs }: Plan,
  { control, leave = false }: TaskBuffersOptions,
): TaskBuffers {
  const open = leave || decodedBytes(jobs) < WORTH_A_HEAP ? undefined : openKernelHeap();
  const limit = Math.floor(budget.maxMemory / control.threads);
  const onChange = (bytes: number) => control.count(bytes);
  const buffers = new BufferPool(limit, { onChange, source: open?.heap });
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

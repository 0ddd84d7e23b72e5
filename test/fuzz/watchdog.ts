import { Script } from "node:vm";

const holder = globalThis as { watched?: (() => void) | undefined };
const script = new Script("watched()");

/**
 * Runs `work` and interrupts it, loops in WebAssembly included, when it takes longer than `limit` ms.
 *
 * @returns whether it came to its end.
 */
export function finishesWithin(limit: number, work: () => void): boolean {
  holder.watched = work;
  try {
    script.runInThisContext({ timeout: limit });
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_SCRIPT_EXECUTION_TIMEOUT") return false;
    throw error;
  } finally {
    holder.watched = undefined;
  }
}

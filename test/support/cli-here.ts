import { vi } from "vitest";
import { runCommand } from "../../src/cli/dispatch.ts";
import * as progress from "../../src/cli/progress/view.ts";
import type { Run } from "./cli.ts";
import { outputHere } from "./output-here.mjs";

/**
 * Runs the command in this process, from its sources: what starts no process costs a tenth. It changes the
 * working folder: one command at a time. Where it takes seconds, it prints no lines of progress.
 */
export async function runHere(cwd: string, ...args: readonly string[]): Promise<Run> {
  const view = vi.spyOn(progress, "progressView").mockReturnValue({ show() {}, stop() {} });
  try {
    return await outputHere(cwd, () => {
      process.argv = [process.execPath, "zarrflow", ...args];
      return runCommand(args);
    });
  } finally {
    view.mockRestore();
  }
}

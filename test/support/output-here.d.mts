import type { Run } from "./cli.ts";

export function outputHere(cwd: string, run: () => Promise<void>): Promise<Run>;

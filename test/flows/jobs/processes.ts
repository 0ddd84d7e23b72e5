import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { create } from "../../../src/hierarchy/create/create.ts";
import { command } from "../../built-package.ts";
import { exitOf, type Run, runCli } from "../../support/cli.ts";

const SHAPE = [192, 96, 96] as const;

/** An array of which each time is a chunk. */
export async function makeSource(path: string): Promise<void> {
  const array = await create(path, {
    shape: [...SHAPE],
    chunks: [2, 96, 96],
    dataType: "float32",
    zarrFormat: "v2",
    codec: "zstd:1",
    dimensionNames: ["time", "y", "x"],
  });
  const items = SHAPE[0] * SHAPE[1] * SHAPE[2];
  const values = Float32Array.from({ length: items }, (_, i) => Math.fround(Math.sin(i / 99) * 50));
  await array.write([], values);
  await array.close();
}

export const TO_SERIES = ["--chunks", "time=-1,y=8,x=8"] as const;

/** Runs the command, which must end as it should. */
export async function mustRun(cwd: string, args: readonly string[], code = 0): Promise<Run> {
  const run = await runCli(cwd, ...args);
  if (run.code !== code) throw new Error(`${args.join(" ")} ended with ${run.code}: ${run.stderr}`);
  return run;
}

export interface Started {
  readonly index: number;
  readonly pid: number | undefined;
  readonly exit: Promise<number | null>;
  kill(): void;
}

/** Starts a process for a share of a stage, by what an engine would say to it. */
export function startShare(cwd: string, stage: number, index: number, count: number): Started {
  const env = {
    ...process.env,
    SLURM_ARRAY_TASK_ID: String(1 + 2 * index),
    SLURM_ARRAY_TASK_MIN: "1",
    SLURM_ARRAY_TASK_STEP: "2",
    SLURM_ARRAY_TASK_COUNT: String(count),
  };
  const args = [command, "run", "plan.json", "--stage", String(stage), "--quiet"];
  const child = spawn(process.execPath, args, { cwd, env, stdio: ["ignore", "ignore", "inherit"] });
  return { index, pid: child.pid, exit: exitOf(child), kill: () => child.kill("SIGKILL") };
}

export function stagesOf(cwd: string): readonly number[] {
  const { plan } = JSON.parse(readFileSync(join(cwd, "plan.json"), "utf8")) as {
    readonly plan: { readonly stages: readonly number[] };
  };
  return plan.stages;
}

/** What each ledger beside a target says: how often every task has ended. */
export function endsIn(cwd: string): Map<number, number> {
  const ends = new Map<number, number>();
  const [control = ""] = readdirSync(cwd).filter((name) => name.startsWith(".out.zarr.zarrflow-"));
  for (const name of readdirSync(join(cwd, control)).filter((one) => /^ledger-/.test(one))) {
    for (const line of readFileSync(join(cwd, control, name), "utf8").split("\n")) {
      const task = Number(/^\{"end":(\d+),/.exec(line)?.[1] ?? Number.NaN);
      if (Number.isInteger(task)) ends.set(task, (ends.get(task) ?? 0) + 1);
    }
  }
  return ends;
}

import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { checksumOf, planFileOf, type WrittenPlanFile } from "../../../src/flows/jobs/plan-file.ts";
import type { PlannedFlow } from "../../../src/flows/request/flow.ts";
import { command } from "../../built-package.ts";
import { exitOf, type Run } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { given } from "../../support/given.ts";

export const ENCODERS = { zarrflow: "1", zlib: "1" };

/** What was planned, as the text of a file; closes it. */
export async function textOf(planned: Promise<PlannedFlow>): Promise<string> {
  const open = await planned;
  try {
    return JSON.stringify(planFileOf(open, { encoders: ENCODERS }), undefined, 1);
  } finally {
    await open.close();
  }
}

/** A plan that somebody has changed, and given the checksum of what it says now. */
export function withChecksum(text: string): string {
  const { checksum: _, ...file } = JSON.parse(text) as WrittenPlanFile & { readonly checksum: string };
  return JSON.stringify({ ...file, checksum: checksumOf(file as WrittenPlanFile) });
}

/** The same, with a value in place of the one at a JSON path. */
export function changed(text: string, path: readonly (string | number)[], value: unknown): string {
  const file = JSON.parse(text);
  const last = path.at(-1) ?? "";
  let at = file;
  for (const name of path.slice(0, -1)) at = at[name];
  if (value === undefined) delete at[last];
  else at[last] = value;
  return withChecksum(JSON.stringify(file));
}

/** Times, rows and columns of a source. */
type Shape = readonly [number, number, number];
export const SMALL: Shape = [48, 32, 32];
export const LARGE: Shape = [192, 96, 96];

/** An array of which every two times are a chunk. */
export async function makeSource(path: string, shape = SMALL): Promise<void> {
  const [, rows, columns] = shape;
  const how = { dataType: "float32", zarrFormat: "v2", codec: "zstd:1" } as const;
  const grid = { shape, chunks: [2, rows, columns], dimensionNames: ["time", "y", "x"] };
  await given({ at: path, ...grid, ...how, values: (i) => Math.sin(i / 99) * 50 });
}

export const TO_SERIES = ["--chunks", "time=-1,y=8,x=8"] as const;

/** Runs the command, which must end as it should. */
export async function mustRun(cwd: string, args: readonly string[], code = 0): Promise<Run> {
  const run = await runHere(cwd, ...args);
  if (run.code !== code) throw new Error(`${args.join(" ")} ended with ${run.code}: ${run.stderr}`);
  return run;
}

export interface Started {
  readonly index: number;
  /** Its exit code; null where it was killed. */
  readonly exit: Promise<number | null>;
}

/** A share of a stage. */
export interface Share {
  readonly stage: number;
  readonly index: number;
  readonly count: number;
}

/** How a process is killed: by what `buildKiller` has made in a folder, as its so manieth call changes something. */
interface Kill {
  readonly killer: string;
  readonly at: number;
}

/** Starts a process for a share of a stage, by what an engine would say to it. */
export function startShare(cwd: string, { stage, index, count }: Share, kill?: Kill): Started {
  const task = { SLURM_ARRAY_TASK_ID: String(1 + 2 * index), SLURM_ARRAY_TASK_COUNT: String(count) };
  const env = { ...process.env, ...task, SLURM_ARRAY_TASK_MIN: "1", SLURM_ARRAY_TASK_STEP: "2" };
  const imported = kill ? ["--import", pathToFileURL(join(kill.killer, "killer.mjs")).href] : [];
  const killed = kill && { CALLS_FILE: join(kill.killer, "calls"), KILL_AT: `${kill.at}` };
  const args = [...imported, command, "run", "plan.json", "--stage", String(stage), "--quiet"];
  const child = spawn(process.execPath, args, {
    ...{ cwd, env: { ...env, ...killed } },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return { index, exit: exitOf(child) };
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

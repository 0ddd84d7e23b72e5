// Prints the tables of docs/scale.md: simulated plans for arrays that have only metadata. Needs `npm run build`.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { plan as planFlow, simulatePlan } from "../dist/index.js";

const FAR = { latency: 0.03, bytesPerSecond: 100e6 };
const WORKERS = [1, 10, 100, 1000, 10_000];
const SIZES = [
  ["1 TB", [250_000, 1000, 1000]],
  ["100 TB", [250_000, 10_000, 10_000]],
  ["1 PB", [2_500_000, 10_000, 10_000]],
];

/** The tables as Markdown: with one partition of the bucket for each store, and with 16. */
export async function scaleTables() {
  const folder = mkdtempSync(join(tmpdir(), "zarrflow-scale-"));
  try {
    const plans = [];
    for (const [name, shape] of SIZES) plans.push([name, await planOf(folder, shape)]);
    return [1, 16].map((prefixes) => tableOf(plans, prefixes)).join("\n\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function planOf(folder, shape) {
  const source = mkdtempSync(join(folder, "source-"));
  const array = {
    zarr_format: 2,
    shape,
    chunks: [10, 500, 500],
    dtype: "<f4",
    fill_value: 0,
    order: "C",
    filters: null,
  };
  writeFileSync(join(source, ".zarray"), JSON.stringify({ ...array, compressor: { id: "zstd", level: 1 } }));
  const how = { chunks: [1000, 50, 50], maxMemory: "2GB", threads: 2, concurrency: 64 };
  const planned = await planFlow(source, join(folder, "out.zarr"), how);
  const profile = { ...FAR, basis: "stated" };
  const plan = await planned.planWith({ source: profile, target: profile, scratch: profile });
  await planned.close();
  return plan;
}

/** The run with the median time, since chance decides which workers are slow. */
function medianRun(plan, options) {
  const runs = Array.from({ length: 9 }, (_, i) => simulatePlan(plan, { ...options, seed: i + 1 }));
  return runs.toSorted((a, b) => a.seconds - b.seconds)[4];
}

function tableOf(plans, prefixes) {
  const title = `with ${prefixes === 1 ? "1 partition" : `${prefixes} partitions`}`;
  const rows = plans.map(([name, plan]) => {
    const cells = WORKERS.map((workers) => {
      const { seconds, cost } = medianRun(plan, { ...FAR, workers, prefixes });
      return `${duration(seconds)}, $${Math.round(cost.total).toLocaleString("en")}`;
    });
    return [name, plan.totals.chunksRead.toLocaleString("en"), ...cells];
  });
  const heads = [
    title,
    "chunks read",
    ...WORKERS.map((n) => `${n.toLocaleString("en")} worker${n === 1 ? "" : "s"}`),
  ];
  const widths = heads.map((head, i) => Math.max(head.length, ...rows.map((row) => row[i].length)));
  const line = (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  return [line(heads), line(widths.map((n) => "-".repeat(n))), ...rows.map(line)].join("\n");
}

function duration(seconds) {
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 6000) return `${Math.round(seconds / 60)} min`;
  if (seconds < 360_000) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await scaleTables());

import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { jobScript, SCRIPTS } from "../../../src/cli/job-scripts.ts";
import { testFolder } from "../../support/cli.ts";

const JOB = { plan: "/data/my plans/it's.json", stages: 2, count: 8, maxMemory: 256_000_000, threads: 2 };

test.each(SCRIPTS)(
  "the script for %s is one that bash reads, and runs modules where the plan has some",
  (engine) => {
    const plain = jobScript(engine, { ...JOB, hasMap: false });
    const trusting = jobScript(engine, { ...JOB, hasMap: true });
    for (const input of [plain, trusting]) execFileSync("bash", ["-n"], { input });
    expect(plain).toContain("set -euo pipefail");
    expect(plain).not.toContain("trust-map");
    expect(trusting.match(/--trust-map/g)).toHaveLength(2);
  },
);

/** Runs a script with commands of its engine that note what they are called with. */
async function callsOf(script: string, engine: string, env: Readonly<Record<string, string>> = {}) {
  const folder = await testFolder();
  const file = join(folder, "log");
  const log = `'${file}'`;
  writeFileSync(file, "");
  for (const name of [engine, "zarrflow"]) {
    const body = `#!/bin/bash\nprintf '%s|' ${name} "$@" >> ${log}\nif [ ! -t 0 ] && [ "${name}" != aws ] && [ "${name}" != zarrflow ]; then printf '\\n' >> ${log}; timeout 5 cat >> ${log}; fi\nprintf '\\n' >> ${log}\necho 17\n`;
    writeFileSync(join(folder, name), body);
    chmodSync(join(folder, name), 0o755);
  }
  writeFileSync(join(folder, "script.sh"), script);
  execFileSync("bash", [join(folder, "script.sh")], {
    env: { ...process.env, ...env, PATH: `${folder}:${process.env.PATH}` },
    stdio: ["ignore", "ignore", "inherit"],
  });
  return readFileSync(file, "utf8");
}

describe("what the scripts call", () => {
  const job = { ...JOB, plan: "/data/plan.json", hasMap: false };
  const kubernetes = { IMAGE: "registry.example.org/zarrflow:0.1.0", CLAIM: "data", SECRET: "credentials" };
  const example = readFileSync("examples/array-jobs/kubernetes.yaml", "utf8");
  const manifestsIn = (calls: string) =>
    calls.split(/^kubectl.*$/m).filter((one) => one.includes("kind: Job"));

  test("SLURM: an array for each stage, after the one before, and the end", async () => {
    const calls = await callsOf(jobScript("slurm", job), "sbatch");
    const heads = calls.split("\n").filter((line) => line.startsWith("sbatch|"));
    expect(heads).toHaveLength(3);
    expect(heads[0]).toMatch(/--array=0-7\|.*--cpus-per-task=2\|--mem=545M/);
    expect(heads[0]).not.toContain("--dependency");
    expect(heads[1]).toContain("|--dependency=afterok:17|");
    expect(heads[2]).toContain("|--dependency=afterok:17|");
    expect(calls).toContain(
      `zarrflow run /data/plan.json --stage 2 --task-index "$SLURM_ARRAY_TASK_ID" --task-count 8 &`,
    );
    expect(calls).toMatch(/SLURM_RESTART_COUNT:-0\}" -lt 20 /);
    expect(calls).toContain("exec zarrflow finish /data/plan.json");
  });

  test("AWS Batch: dependsOn, and the whole command as JSON", async () => {
    const calls = await callsOf(jobScript("batch", job), "aws", { QUEUE: "q", DEFINITION: "d" });
    const lines = calls.trim().split("\n");
    expect(lines).toHaveLength(3);
    expect(lines[1]).toContain("|--depends-on|jobId=17|");
    const [, json = ""] = /--container-overrides\|(.*)\|$/.exec(lines[1] ?? "") ?? [];
    expect(JSON.parse(json)).toEqual({ command: ["zarrflow", "run", "/data/plan.json", "--stage", "2"] });
    const [, retry = ""] = /--retry-strategy\|([^|]*)\|/.exec(lines[0] ?? "") ?? [];
    expect(JSON.parse(retry).evaluateOnExit[0]).toEqual({ onExitCode: "75", action: "RETRY" });
  });

  test("Kubernetes: manifests like the example, one Job a stage, waited for", async () => {
    const calls = await callsOf(jobScript("k8s", job), "kubectl", kubernetes);
    expect(calls.match(/^kubectl\|apply/gm)).toHaveLength(3);
    expect(calls.match(/^kubectl\|wait\|--for=condition=complete/gm)).toHaveLength(3);
    const form = membersOf(parse(example));
    const manifests = manifestsIn(calls).map((one) => parse(one));
    expect(manifests).toHaveLength(3);
    for (const manifest of manifests) {
      expect(manifest).toMatchObject({ apiVersion: "batch/v1", spec: { completionMode: "Indexed" } });
      expect(manifest.metadata.name).toMatch(/^[a-z0-9-]{1,63}$/);
      for (const rule of manifest.spec.podFailurePolicy?.rules ?? [])
        expect(rule).toEqual(parse(example).spec.podFailurePolicy.rules[0]);
      // no member that the example has not, at its depth, but those of the claim
      const others = [...membersOf(manifest)].filter((one) => !form.has(one) && !one.includes("/volumes/"));
      expect(others).toEqual([]);
    }
    // and what the example says, but for names, numbers and the claim
    expect([...form].filter((one) => !membersOf(manifests[0]).has(one))).toEqual([]);
  });

  test("Kubernetes: manifests are what its schema allows", { tags: ["tools"] }, async () => {
    const { Job } = await import("kubernetes-models/batch/v1");
    const calls = await callsOf(jobScript("k8s", job), "kubectl", kubernetes);
    for (const manifest of [example, ...manifestsIn(calls)]) new Job(parse(manifest)).validate();
    const wrong = parse(example.replace("completionMode: Indexed", "completionMode: 3"));
    expect(() => new Job(wrong).validate()).toThrow(/completionMode/);
  });
});

/** The paths of all members of a document; those of the items of a list are one. */
function membersOf(value: unknown, path = ""): Set<string> {
  if (typeof value !== "object" || value === null) return new Set([path]);
  const members = Object.entries(value).map(
    ([name, one]) => [Array.isArray(value) ? "*" : name, one] as const,
  );
  return new Set(members.flatMap(([name, one]) => [...membersOf(one, `${path}/${name}`)]));
}

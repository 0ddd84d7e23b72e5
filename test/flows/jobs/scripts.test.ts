import { execFileSync } from "node:child_process";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { jobScript, SCRIPTS } from "../../../src/cli/job-scripts.ts";
import { testFolder } from "../../support/cli.ts";

const JOB = {
  plan: "/data/my plans/it's.json",
  stages: 2,
  count: 8,
  maxMemory: 256_000_000,
  threads: 2,
  hasMap: false,
};

test.each(SCRIPTS)("the script for %s is one that bash reads", (engine) => {
  const script = jobScript(engine, JOB);
  execFileSync("bash", ["-n"], { input: script });
  expect(script).toContain("set -euo pipefail");
});

test.each(SCRIPTS)("the script for %s lets jobs run the modules of a plan that has some", (engine) => {
  const plain = jobScript(engine, JOB);
  const script = jobScript(engine, { ...JOB, hasMap: true });
  execFileSync("bash", ["-n"], { input: script });
  expect(plain).not.toContain("trust-map");
  expect(script.match(/--trust-map/g)).toHaveLength(2);
});

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
  const path = `${folder}:${process.env.PATH}`;
  writeFileSync(join(folder, "script.sh"), script);
  const stdio = ["ignore", "ignore", "inherit"] as const;
  execFileSync("bash", [join(folder, "script.sh")], {
    env: { ...process.env, ...env, PATH: path },
    stdio: [...stdio],
  });
  return readFileSync(file, "utf8");
}

describe("what the scripts call", () => {
  const job = { ...JOB, plan: "/data/plan.json" };

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
    const calls = await callsOf(jobScript("k8s", job), "kubectl", KUBERNETES);
    expect(calls.match(/^kubectl\|apply/gm)).toHaveLength(3);
    expect(calls.match(/^kubectl\|wait\|--for=condition=complete/gm)).toHaveLength(3);
    const manifests = manifestsIn(calls);
    const example = linesOf(readFileSync("examples/array-jobs/kubernetes.yaml", "utf8"));
    for (const manifest of manifests) assertIndexedJob(linesOf(manifest));
    assertIndexedJob(example);
    // what the example says, but for names, numbers and the claim
    const keys = (lines: readonly string[]) => new Set(lines.map((line) => line.replace(/:.*/, ":")));
    const missing = [...keys(example)].filter((key) => !keys(linesOf(manifests[0] ?? "")).has(key));
    expect(missing).toEqual([]);
  });

  test("Kubernetes: manifests are what its schema allows", { tags: ["tools"] }, async () => {
    const { Job } = await import("kubernetes-models/batch/v1");
    const example = readFileSync("examples/array-jobs/kubernetes.yaml", "utf8");
    const calls = await callsOf(jobScript("k8s", job), "kubectl", KUBERNETES);
    for (const manifest of [example, ...manifestsIn(calls)]) new Job(parse(manifest)).validate();
    const wrong = parse(example.replace("completionMode: Indexed", "completionMode: 3"));
    expect(() => new Job(wrong).validate()).toThrow(/completionMode/);
  });
});

const KUBERNETES = { IMAGE: "registry.example.org/zarrflow:0.1.0", CLAIM: "data", SECRET: "s3-credentials" };

function manifestsIn(calls: string): string[] {
  return calls.split(/^kubectl.*$/m).filter((text) => text.includes("kind: Job"));
}

function linesOf(yaml: string): string[] {
  return yaml.split("\n").filter((line) => line.trim() !== "" && !line.trim().startsWith("#"));
}

/** The fields of a Job that this must have, at their depth, and no others. */
function assertIndexedJob(lines: readonly string[]): void {
  const known: readonly RegExp[] = [
    /^apiVersion: batch\/v1$/,
    /^(?:kind: Job|metadata:|spec:)$/,
    /^ {2}name: [a-z0-9-]{1,63}$/,
    /^ {2}(?:completions|parallelism|backoffLimit): \d+$/,
    /^ {2}completionMode: Indexed$/,
    /^ {2}(?:podFailurePolicy|template):$/,
    /^ {4}(?:rules|spec):$/,
    /^ {6}(?:- action: Ignore|restartPolicy: Never|containers:|volumes:)$/,
    /^ {8}onExitCodes:$/,
    /^ {10}(?:containerName: zarrflow|operator: In|values: \[75\])$/,
    /^ {8}- name: [a-z]+$/,
    /^ {10}(?:image: \S+|command: \[("[^"]*"(, )?)+\]|envFrom:|resources:|volumeMounts:|configMap:|persistentVolumeClaim:)$/,
    /^ {12}(?:- secretRef:|requests:|limits:|- name: [a-z]+|name: \S+|optional: true|claimName: \S+)$/,
    /^ {14}(?:cpu: "\d+"|memory: \d+Mi|mountPath: \/\S+)$/,
    /^ {16}name: \S+$/,
  ];
  expect(lines.filter((line) => !known.some((form) => form.test(line)))).toEqual([]);
  expect(lines.filter((line) => /^\S/.test(line))).toEqual([
    "apiVersion: batch/v1",
    "kind: Job",
    "metadata:",
    "spec:",
  ]);
}

// The steps of .ci/bullmq.sh. Each has a time limit.
import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { status } from "zarrflow/bullmq";

const data = mkdtempSync(join(tmpdir(), "zarrflow-bullmq-"));
const started = new Set();
const s3 = { AWS_ACCESS_KEY_ID: "testkey", AWS_SECRET_ACCESS_KEY: "testsecret123", AWS_REGION: "us-east-1" };
const mounted = join(data, "small");

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Maximum lifetime of a process, in seconds. The whole run takes two minutes. */
const LONGEST = 800;

function start(file, args, env = {}) {
  const child = spawn(file, args, { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  const process_ = { child, out: "", exit: undefined };
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (some) => (process_.out += some));
  process_.exit = new Promise((resolve, reject) => {
    const late = () => reject(new Error(`not ended in ${LONGEST} s: ${args.join(" ")}\n${process_.out}`));
    const timer = setTimeout(late, LONGEST * 1000);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      resolve(code ?? signal);
    });
  });
  started.add(process_);
  process_.exit.then(
    () => started.delete(process_),
    () => child.kill("SIGKILL"),
  );
  return process_;
}

async function until(what, seconds, holds) {
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    if (await holds()) return;
    await sleep(100);
  }
  throw new Error(`not in ${seconds} s: ${what}`);
}

function assert(holds, what, ...shown) {
  if (!holds) throw new Error(`${what}\n${shown.join("\n")}`);
  console.log(`${(performance.now() / 1000).toFixed(1)} s: ${what}`);
}

const ports = { redis: await freePort(), s3: await freePort() };
const connection = `redis://127.0.0.1:${ports.redis}`;
const environment = { ...s3, AWS_ENDPOINT_URL: `http://127.0.0.1:${ports.s3}`, QUEUE_URL: connection };

const startRedis = async () => {
  const args = ["--port", ports.redis, "--bind", "127.0.0.1", "--save", "", "--appendonly", "yes"];
  const policy = ["--maxmemory-policy", "noeviction", "--dir", data];
  const redis = start("redis-server", [...args, ...policy].map(String));
  const ping = () => spawnSync("redis-cli", ["-p", String(ports.redis), "ping"]).stdout.toString();
  await until("redis answers", 10, () => ping().startsWith("PONG"));
  return redis;
};
const zarrflow = (args, env = environment) => {
  const ran = spawnSync(process.execPath, ["dist/cli/main.js", ...args], { env: { ...process.env, ...env } });
  if (ran.status !== 0) throw new Error(`${args.join(" ")}: ${ran.stderr}`);
  return ran.stdout.toString();
};
const startWorker = (env = {}) =>
  start(process.execPath, ["examples/queue/worker.mjs"], { ...environment, ...env });
const startSubmit = (plan, jobs, env = {}) =>
  start(process.execPath, ["examples/queue/submit.mjs", plan, String(jobs)], { ...environment, ...env });
/** The digests of all arrays at a place, without the place's name. */
const sums = (place) => zarrflow(["digest", place]).replaceAll(place, "");

async function stopWorkers(workers) {
  for (const { child } of workers) child.kill("SIGTERM");
  const exits = await Promise.all(workers.map(({ exit }) => exit));
  assert(
    exits.every((exit) => exit === 0),
    "workers end with 0 on SIGTERM",
    exits,
    ...workers.map(({ out }) => out),
  );
}

const [group, alone, inline] = ["group", "alone", "inline"].map((name) => join(data, `${name}.zarr`));
const FLAGS = ["--max-mem", "9MB"];
const RUNS = {
  direct: [group, "--chunks", "time=8,y=20,x=10", "--strategy", "direct"],
  staged: [
    alone,
    "--chunks",
    "time=48,y=20,x=20",
    "--strategy",
    "staged",
    "--scratch",
    "s3://bucket/scratch",
  ],
};

/** Runs 4 workers: kills two, stops one while others do its jobs, and restarts Redis. */
async function lossy(strategy) {
  const [plan, target] = [join(data, `${strategy}.json`), `s3://bucket/${strategy}.zarr`];
  const [source, ...flags] = [...RUNS[strategy], ...FLAGS];
  rmSync(inline, { recursive: true, force: true });
  zarrflow(["rechunk", source, inline, ...flags.filter((flag) => !/scratch/.test(flag)), "--quiet"]);
  const found = zarrflow(["plan", "rechunk", source, target, ...flags, "-o", plan]);
  const { plan: planned } = JSON.parse(readFileSync(plan, "utf8"));
  const tasks = planned.stages.reduce((sum, inStage) => sum + inStage, 0);
  const workers = Array.from({ length: 4 }, () => startWorker());
  const submitted = startSubmit(plan, 60);
  const done = () => submitted.out.split("\n").filter((line) => /^{"type":"done"/.test(line)).length;
  await until("some jobs are done", 60, () => done() >= 10);
  workers[0].child.kill("SIGKILL");
  workers[1].child.kill("SIGKILL");
  workers[2].child.kill("SIGSTOP");
  await until("more jobs are done", 60, () => done() >= 20);
  redis.child.kill("SIGTERM");
  await redis.exit;
  await sleep(1000);
  redis = await startRedis();
  assert(
    (await submitted.exit) === 0,
    `${strategy}: ${tasks} tasks are done`,
    found,
    submitted.out,
    workers[3].out,
  );
  workers[2].child.kill("SIGCONT");
  await sleep(2000);
  assert(sums(target) === sums(inline), "the digest is that of one process");
  const again = startSubmit(plan, 60);
  assert((await again.exit) === 0, "submitted again, it is the same run", again.out);
  await stopWorkers(workers.slice(2));
  if (strategy === "direct") assert(tasks >= 1000, "there are 1000 tasks or more", tasks);
}

/** A worker that only claims to be of another version. */
function oldVersion() {
  const folder = join(data, "old");
  cpSync("dist", join(folder, "dist"), { recursive: true });
  cpSync("package.json", join(folder, "package.json"));
  symlinkSync(resolve("node_modules"), join(folder, "node_modules"));
  cpSync("examples/queue/worker.mjs", join(folder, "worker.mjs"));
  const { version } = JSON.parse(readFileSync("package.json", "utf8"));
  const quoted = new RegExp(`(["'\`])${version.replaceAll(".", "\\.")}\\1`, "g");
  let stating = 0;
  for (const name of readdirSync(join(folder, "dist/parts"))) {
    const path = join(folder, "dist/parts", name);
    const text = readFileSync(path, "utf8");
    const changed = text.replace(quoted, '"0.0.1"');
    if (changed === text) continue;
    writeFileSync(path, changed);
    stating++;
  }
  if (stating === 0) throw new Error("no script in dist/parts states the version");
  return start(process.execPath, [join(folder, "worker.mjs")], environment);
}

/** Checks that workers that cannot do jobs say why, and lose nothing. */
async function badWorkers() {
  const plan = join(data, "bad.json");
  const how = [...RUNS.staged.slice(1, 3), "--strategy", "direct"];
  zarrflow(["plan", "rechunk", alone, "s3://bucket/bad.zarr", ...how, ...FLAGS, "-o", plan]);
  const submitted = startSubmit(plan, 4);
  const withoutKey = startWorker({ AWS_SECRET_ACCESS_KEY: "wrong" });
  assert(
    (await withoutKey.exit) === 1 && /access-denied/.test(withoutKey.out),
    "without credentials",
    withoutKey.out,
  );
  const old = oldVersion();
  assert(
    (await old.exit) === 2 && /plan-mismatch: the plan was made with/.test(old.out),
    "of another version",
    old.out,
  );
  const text = readFileSync(plan, "utf8");
  const dead = (await status(text, { connection })).dead;
  assert(dead.length === 0, "no job is dead", JSON.stringify(dead));
  const worker = startWorker();
  assert((await submitted.exit) === 0, "and another worker does them", submitted.out, worker.out);
  const redisCli = (...args) =>
    spawnSync("redis-cli", ["-p", String(ports.redis), ...args]).stdout.toString();
  const keys = redisCli("--scan", "--pattern", `*${JSON.parse(text).id}*`).split("\n");
  const texts = keys.map((key) => redisCli("hgetall", key));
  assert(
    texts.some((one) => one.includes("zarrflow-plan-file")),
    "Redis holds the plan",
  );
  assert(!texts.some((one) => /testkey|testsecret/.test(one)), "Redis holds no credentials");
  await stopWorkers([worker]);
}

async function fullDisk() {
  mkdirSync(mounted);
  const size = (limit, ...how) => {
    const { status: code } = spawnSync("mount", [
      "-t",
      "tmpfs",
      "-o",
      [...how, `size=${limit}`].join(),
      "tmpfs",
      mounted,
    ]);
    if (code !== 0) throw new Error("a small disk cannot be mounted");
  };
  size("400k");
  try {
    const plan = join(data, "full.json");
    const place = ["--strategy", "staged", "--scratch", mounted];
    zarrflow([
      "plan",
      "rechunk",
      alone,
      join(data, "full.zarr"),
      ...RUNS.staged.slice(1, 3),
      ...FLAGS,
      ...place,
      "-o",
      plan,
    ]);
    const submitted = startSubmit(plan, 4);
    const small = startWorker();
    assert((await small.exit) === 1 && /no-space/.test(small.out), "with a full scratch disk", small.out);
    size("64m", "remount");
    const worker = startWorker();
    assert((await submitted.exit) === 0, "and it is done when there is space", submitted.out, worker.out);
    await stopWorkers([worker]);
    assert(sums(join(data, "full.zarr")) === sums(inline), "the digest is right");
  } finally {
    spawnSync("umount", [mounted]);
  }
}

/** Stops Redis for longer than a worker waits. */
async function withoutRedis() {
  const worker = startWorker({ TIMEOUT: "2" });
  await sleep(1500);
  redis.child.kill("SIGTERM");
  await redis.exit;
  const exit = await worker.exit;
  assert(
    exit === 5 && /not answered for 2 s/.test(worker.out),
    "without Redis a worker gives up",
    exit,
    worker.out,
  );
  const submitted = startSubmit(join(data, "direct.json"), 4, { TIMEOUT: "2" });
  assert((await submitted.exit) === 5, "and so does who submits", submitted.out);
}

let redis;
try {
  mkdirSync(join(data, "s3", "bucket"), { recursive: true });
  const address = `127.0.0.1:${ports.s3}`;
  const keys = [
    "--access",
    s3.AWS_ACCESS_KEY_ID,
    "--secret",
    s3.AWS_SECRET_ACCESS_KEY,
    "--health",
    "/health",
  ];
  start(process.env.VERSITYGW, ["--port", address, ...keys, "--quiet", "posix", join(data, "s3")]);
  await until("versitygw answers", 10, () =>
    fetch(`http://${address}/health`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  redis = await startRedis();
  spawnSync(process.execPath, [".ci/bullmq-source.mjs", group, alone], { stdio: "inherit" });
  await lossy("direct");
  await lossy("staged");
  await badWorkers();
  await fullDisk();
  await withoutRedis();
} catch (error) {
  console.error(String(error.message));
  process.exitCode = 1;
} finally {
  const all = [...started];
  for (const { child } of all) child.kill("SIGKILL");
  await Promise.allSettled(all.map(({ exit }) => exit));
  rmSync(data, { recursive: true, force: true });
}

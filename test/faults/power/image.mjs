// Runs of the command on an ext4 file system in a file, which is shut down below them at random moments: what was not synced
// is lost, as when the power fails (EXT4_IOC_SHUTDOWN without a flush of the journal). Then it is mounted again, and the run
// is resumed. Needs Linux, root, loop devices and python3; `npm run test:power`, ZARRFLOW_LOSSES for each case.
import { execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { create, digest } from "../../../dist/index.js";

const LOSSES = Number(process.env.ZARRFLOW_LOSSES ?? 20);
/** Times that a run is cut, at most, before it is left to end. */
const LOSSES_OF_A_RUN = 3;
const STEPS = 256;
const STEP = [128, 1024];
const SHUT_DOWN = `
import fcntl, os, struct, sys
EXT4_IOC_SHUTDOWN, NO_LOG_FLUSH = 0x8004587D, 2
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), EXT4_IOC_SHUTDOWN, struct.pack("I", NO_LOG_FLUSH))
`;

const command = new URL("../../../dist/cli/main.js", import.meta.url).pathname;
const folder = mkdtempSync(join(tmpdir(), "zarrflow-power-image-"));
const source = join(folder, "source.zarr");
const image = join(folder, "disk.img");
const mounted = join(folder, "disk");
const place = join(mounted, "place");
const counts = { losses: 0, published: 0, resumed: 0, tasksResumed: 0, wrong: 0 };

const FLOWS = {
  copy: ["copy", "--codec", "zstd:1"],
  "rechunk, direct": ["rechunk", "--chunks", `${STEPS},16,64`, "--strategy", "direct"],
  "rechunk, staged": ["rechunk", "--chunks", `${STEPS},16,64`, "--strategy", "staged"],
};

const mount = () => execFileSync("mount", ["-o", "loop,commit=1", image, mounted]);
const unmount = () => execFileSync("umount", [mounted]);

function newDisk() {
  rmSync(image, { force: true });
  execFileSync("truncate", ["--size", "1G", image]);
  execFileSync("mkfs.ext4", ["-q", "-F", image]);
  mount();
  mkdirSync(place);
  execFileSync("sync", [place]);
}

/** A line that says another start, with its checksum. */
function ofEarlierStart(line) {
  if (!line.includes('"boot":"')) return line;
  const text = line.slice(0, -9).replace(/"boot":"[^"]+"/, '"boot":"another"');
  return `${text} ${crc32(text).toString(16).padStart(8, "0")}`;
}

/** A ledger says which start of the machine it was written in. */
function restartMachine() {
  for (const name of readdirSync(mounted, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith("ledger.jsonl")) continue;
    const path = join(mounted, name);
    const lines = readFileSync(path, "latin1").split("\n");
    writeFileSync(path, lines.map(ofEarlierStart).join("\n"), "latin1");
  }
}

async function run(args, lossAfter) {
  const began = performance.now();
  const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "pipe", "ignore"] });
  let output = "";
  child.stdout.on("data", (text) => {
    output += text;
  });
  const exit = new Promise((resolve) => child.on("close", resolve));
  let isLost = false;
  if (lossAfter !== undefined) {
    await Promise.race([sleep(lossAfter), exit]);
    isLost = true;
    execFileSync("python3", ["-c", SHUT_DOWN, mounted]);
    child.kill("SIGKILL");
  }
  const code = await exit;
  if (isLost) {
    counts.losses++;
    unmount();
    mount();
    restartMachine();
  }
  return { code, output, ms: performance.now() - began };
}

async function digestOf(path) {
  const hashes = [];
  for await (const { sha256 } of digest(path)) hashes.push(sha256);
  return hashes.join();
}

/** What is wrong after losses of power and the run that ends. */
async function cutAndResume(target, args, ms, isSynced) {
  const losses = 1 + Math.floor(Math.random() * LOSSES_OF_A_RUN);
  for (let loss = 0; loss < losses && !existsSync(target); loss++) await run(args, Math.random() * ms);
  if (existsSync(target)) {
    counts.published++;
    // without a sync the names may be on the disk before the contents
    if (!isSynced) return [];
  } else {
    const { code, output } = await run(args);
    if (code !== 0) return [`exit code ${code}: ${output}`];
    const { tasksResumed = 0 } = JSON.parse(output);
    counts.resumed++;
    counts.tasksResumed += tasksResumed;
  }
  const found = await digestOf(target);
  return found === expected ? [] : [`digest ${found}`];
}

const array = await create(source, {
  shape: [STEPS, ...STEP],
  chunks: [1, ...STEP],
  dataType: "float32",
  zarrFormat: "v2",
  codec: "blosc:lz4:1",
});
for (let step = 0; step < STEPS; step++) {
  const values = Float32Array.from({ length: STEP[0] * STEP[1] }, (_, i) => Math.sin(i / 50) + step);
  await array.write([step], values);
}
await array.close();
const expected = await digestOf(source);
mkdirSync(mounted);

for (const [flow, [operation, ...options]] of Object.entries(FLOWS)) {
  for (const name of ["out.zarr", "out.zarr.zip"]) {
    for (const isSynced of [true, false]) {
      const target = join(place, name);
      const scratch = operation === "rechunk" ? ["--scratch", join(mounted, "scratch")] : [];
      const fixed = ["--max-mem", "16MB", "--json", "--resume"];
      const args = [operation, source, target, ...options, ...scratch, ...fixed];
      if (isSynced) args.push("--fsync");
      newDisk();
      const whole = await run(args);
      if (whole.code !== 0) throw new Error(`${args.join(" ")}: ${whole.output}`);
      unmount();
      const before = { ...counts };
      for (let number = 0; number < LOSSES; number++) {
        newDisk();
        const wrong = await cutAndResume(target, args, whole.ms, isSynced);
        counts.wrong += wrong.length;
        for (const what of wrong) console.log(`WRONG: ${flow} ${name}: ${what}`);
        unmount();
      }
      const since = Object.entries(counts).map(([what, count]) => `${what} ${count - before[what]}`);
      console.log(`${flow}, ${name}, ${isSynced ? "with" : "without"} --fsync: ${since.join(", ")}`);
    }
  }
}
console.log(`all: ${JSON.stringify(counts)}`);
rmSync(folder, { recursive: true });
process.exitCode = counts.wrong === 0 ? 0 : 1;

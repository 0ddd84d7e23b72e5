// Flows of all kinds, one after the other, each checked.
import { createHash } from "node:crypto";
import {
  convert,
  copy,
  digest,
  isZarrflowError,
  rechunk,
  slice,
  sliceTo,
  validate,
} from "../../dist/index.js";

/** Targets of each lane and kind, which are replaced again and again. */
const SLOTS = 4;
/** How often a run is made again, each time resumed, until a fault fails the soak. */
const ATTEMPTS = 6;
/** Milliseconds until some of the runs are stopped, or aborted. */
const LONGEST_BEFORE_STOP = 600;

const CHUNKS = { time: -1, y: 16, x: 16 };
const MAPS = { time: 1, y: -1, x: -1 };

/** Runs that write: what is done, of which part of time, with which options. */
const RUNS = {
  copy: (from, to, options) => copy(from, to, options),
  "copy with another codec": (from, to, options) => copy(from, to, { codec: "blosc:lz4:1", ...options }),
  "copy, verified": (from, to, options) => copy(from, to, { verify: true, ...options }),
  "rechunk, direct": (from, to, options) =>
    rechunk(from, to, { chunks: CHUNKS, strategy: "direct", ...options }),
  "rechunk, staged": (from, to, options) =>
    rechunk(from, to, { chunks: CHUNKS, strategy: "staged", maxMemory: "16MB", ...options }),
  "rechunk to maps": (from, to, options) => rechunk(from, to, { chunks: MAPS, ...options }),
  convert: (from, to, options) => convert(from, to, { to: "v2", ...options }),
  "slice to Zarr": (from, to, options, part) => sliceTo(from, to, { slice: { time: part }, ...options }),
};

const kinds = [...Object.keys(RUNS), "slice to bytes", "digest", "validate"];

export function makeFlows({ source, places }) {
  /** `resumed`: runs that went on with what one before had done; `again`: those that a fault made start again. */
  const tally = {
    flows: 0,
    kinds: new Map(),
    stopped: 0,
    resumed: 0,
    again: 0,
    digests: 0,
    retries: 0,
    wrong: 0,
    failed: 0,
  };
  let slot = 0;

  async function runOne(lane) {
    const kind = oneOf(kinds);
    const from = `${oneOf(places)}/source.zarr`;
    const url = from.startsWith("s3:") && Math.random() < 0.3 ? `${from}.zip` : from;
    tally.flows++;
    tally.kinds.set(kind, (tally.kinds.get(kind) ?? 0) + 1);
    let to = "";
    try {
      const start = Math.floor(Math.random() * (source.times - 8));
      const part = [start, start + 8];
      if (kind in RUNS) {
        to = `${oneOf(places)}/target-${lane}-${slot++ % SLOTS}${oneOf([".zarr", ".zarr.zip"])}`;
        await runToEnd((options) => RUNS[kind](url, to, options, part));
        await checkDigests(to, kind === "slice to Zarr" ? source.part(...part) : source.all);
      } else if (kind === "digest") await checkDigests(url, source.all);
      else if (kind === "validate") await again(() => checkValid(url));
      else await again(() => checkBytes(url, part));
    } catch (error) {
      tally.failed++;
      console.error(`FAILED: ${kind} of ${url} to ${to}:`, error);
    }
  }

  /** Runs until the run is complete; some are stopped or aborted first. What was done is kept, where it can be. */
  async function runToEnd(run) {
    const threads = oneOf([1, 2]);
    const common = { threads, ifExists: "replace", onEvent: count };
    const stops = Math.random() < 0.3 ? 1 + Math.floor(Math.random() * 2) : 0;
    for (let attempt = 1; ; attempt++) {
      const stop = new AbortController();
      const ending = oneOf(["stop", "signal"]);
      const timer =
        attempt <= stops &&
        setTimeout(() => {
          tally.stopped++;
          stop.abort();
        }, Math.random() * LONGEST_BEFORE_STOP);
      const stopping = { stop: new AbortController().signal, [ending]: stop.signal };
      try {
        const report = await run({
          ...common,
          ...stopping,
          resume: attempt > 1,
        });
        if (report.tasksResumed || report.keysResumed) tally.resumed++;
        return;
      } catch (error) {
        if (stop.signal.aborted && isZarrflowError(error, "aborted")) continue;
        if (!isOfFault(error) || attempt - stops >= ATTEMPTS) throw error;
        tally.again++;
      } finally {
        clearTimeout(timer);
      }
    }
  }

  /** Reads again what a fault has ended. */
  async function again(read) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await read();
      } catch (error) {
        if (!isOfFault(error) || attempt >= ATTEMPTS) throw error;
        tally.again++;
      }
    }
  }

  async function checkDigests(url, right) {
    const found = await again(async () => {
      const digests = {};
      for await (const { path, sha256 } of digest(url)) digests[path] = sha256;
      return digests;
    });
    tally.digests++;
    const names = new Set([...Object.keys(right), ...Object.keys(found)]);
    for (const name of names) if (found[name] !== right[name]) wrong(`${url}: ${name}`);
  }

  async function checkBytes(url, part) {
    const hash = createHash("sha256");
    for await (const bytes of slice(`${url}/t2m`, { time: part }).bytes()) hash.update(bytes);
    tally.digests++;
    if (hash.digest("hex") !== source.part(...part).t2m) wrong(`${url}/t2m at ${part}`);
  }

  async function checkValid(url) {
    for await (const { level, path, message } of validate(url, { deep: true })) {
      if (level === "error") wrong(`${url}: ${path}: ${message}`);
    }
  }

  function wrong(what) {
    tally.wrong++;
    console.error(`WRONG: ${what}`);
  }

  function count({ type }) {
    if (type === "retry") tally.retries++;
  }

  return { tally, runOne };
}

function isOfFault(error) {
  return isZarrflowError(error, "transient") || isZarrflowError(error, "short-read");
}

function oneOf(choices) {
  return choices[Math.floor(Math.random() * choices.length)];
}

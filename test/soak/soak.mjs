// One process that runs flows of all kinds for a long time, over folders, zips, and S3 servers that fail; see run.sh.
//
//   node --expose-gc soak.mjs        (the built package; ZARRFLOW_S3_SERVERS, ZARRFLOW_TOXIPROXY, ZARRFLOW_SOAK_MINUTES)
//
// It compares each result with digests that were computed without the library, and prints what it held over time. It
// exits with 1 after a wrong result, an error that is not of the faults, or growth.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { AwsClient } from "aws4fetch";
import { copy } from "../../dist/index.js";
import { makeFlows } from "./flows.mjs";
import { compareThirds, takeSample } from "./samples.mjs";
import { makeSource } from "./source.mjs";

const MINUTES = Number(process.env.ZARRFLOW_SOAK_MINUTES ?? 30);
/** Samples of a run: one a minute, and not fewer than the thirds of a short one need. */
const SAMPLES = Math.max(6, MINUTES);
/** Milliseconds in which the client closes connections that nobody uses. */
const IDLE_MS = 6000;
/** The part by which memory may grow from the middle third to the last; a short run is not at rest by then. */
const ALLOWED_PART = 0.05;
const ALLOWED_IN_SHORT_RUN = 0.25;
/** Flows at a time. */
const LANES = 3;
const credentials = { accessKeyId: "testkey", secretAccessKey: "testsecret123" };
const BUCKET = "soak";

const servers = (process.env.ZARRFLOW_S3_SERVERS ?? "").split(" ").filter(Boolean);
Object.assign(process.env, {
  AWS_ACCESS_KEY_ID: credentials.accessKeyId,
  AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  AWS_REGION: "us-east-1",
});

const folder = mkdtempSync(join(tmpdir(), "zarrflow-soak-"));
const fronts = fork(fileURLToPath(new URL("fronts.mjs", import.meta.url)), [
  process.env.ZARRFLOW_TOXIPROXY,
  ...servers,
]);
try {
  process.exitCode = (await soak()) ? 0 : 1;
} finally {
  fronts.disconnect();
  rmSync(folder, { recursive: true, force: true });
}

async function soak() {
  const source = await makeSource(join(folder, "source.zarr"));
  for (const server of servers) await upload(source.url, server.slice(server.indexOf("=") + 1));
  const { endpoints } = await answerOfFronts();
  const flows = makeFlows({ source, places: [folder, `s3://${BUCKET}`] });

  const began = Date.now();
  const samples = [];
  for (let i = 1; i <= SAMPLES; i++) {
    const until = began + (i / SAMPLES) * MINUTES * 60_000 - IDLE_MS;
    // the environment names one server at a time
    process.env.AWS_ENDPOINT_URL = Object.values(endpoints)[i % servers.length];
    const lanes = Array.from({ length: LANES }, async (_, lane) => {
      while (Date.now() < until) await flows.runOne(lane);
    });
    await Promise.all(lanes);
    samples.push(await takeSample(IDLE_MS));
    console.log(sampleText(samples.at(-1), (Date.now() - began) / 60_000, flows.tally));
  }
  const { counts } = await answerOfFronts("counts");
  const thirds = compareThirds(samples, MINUTES < 10 ? ALLOWED_IN_SHORT_RUN : ALLOWED_PART);
  printResults(flows.tally, counts, thirds);
  return flows.tally.wrong === 0 && flows.tally.failed === 0 && thirds.every(({ isFlat }) => isFlat);
}

/** Copies the source to a server without faults, as keys and as a zip. */
async function upload(from, endpoint) {
  const { status } = await new AwsClient({ ...credentials, service: "s3", region: "us-east-1" }).fetch(
    `${endpoint}/${BUCKET}`,
    { method: "PUT" },
  );
  if (status !== 200 && status !== 409) throw new Error(`no bucket can be made at ${endpoint}: ${status}`);
  process.env.AWS_ENDPOINT_URL = endpoint;
  await copy(from, `s3://${BUCKET}/source.zarr`, { ifExists: "replace" });
  await copy(from, `s3://${BUCKET}/source.zarr.zip`, { ifExists: "replace" });
}

function answerOfFronts(question) {
  const answer = new Promise((resolve, reject) => {
    fronts.once("message", resolve);
    fronts.once("exit", (status) => reject(new Error(`the fronts ended with ${status}`)));
  });
  if (question) fronts.send(question);
  return answer;
}

function sampleText({ rss, heapUsed, external, handles, sockets, resources }, minutes, { flows, retries }) {
  const mb = (bytes) => `${(bytes / 1e6).toFixed(1)} MB`;
  return [
    `${minutes.toFixed(1)} min`,
    `RSS ${mb(rss)}`,
    `heap ${mb(heapUsed)}`,
    `external ${mb(external)}`,
    `${handles} handles`,
    `${sockets} sockets`,
    `${resources} resources`,
    `${flows} flows`,
    `${retries} retries`,
  ].join(", ");
}

function printResults({ kinds, ...tally }, counts, thirds) {
  console.log(JSON.stringify({ ...tally, kinds: Object.fromEntries(kinds), ...counts }, undefined, 2));
  for (const { what, middle, last, isFlat } of thirds) {
    console.log(`${what}: ${middle} in the middle third, ${last} in the last: ${isFlat ? "flat" : "GROWS"}`);
  }
}

// Submits a plan, and waits until its run ends: node submit.mjs plan.json [JOBS]
import { readFile } from "node:fs/promises";
import { follow, status, submit } from "zarrflow/bullmq";

const [path, jobs] = process.argv.slice(2);
const plan = await readFile(path, "utf8");
const options = {
  connection: process.env.QUEUE_URL ?? "redis://127.0.0.1:6379",
  queue: process.env.QUEUE ?? "zarrflow",
  timeout: Number(process.env.TIMEOUT ?? 60),
};

try {
  await submit(plan, { ...options, ...(jobs && { jobs: Number(jobs) }) });
  const onEvent = (event) => event.type !== "progress" && console.log(JSON.stringify(event));
  console.log(JSON.stringify(await follow(plan, { ...options, onEvent })));
} catch (error) {
  console.error(`${error.code}: ${error.message} ${error.details?.hint ?? ""}`);
  if (error.code === "tasks-undone") {
    for (const { stage, index, reason } of (await status(plan, options)).dead)
      console.error(`  job ${index} of stage ${stage}: ${reason}`);
  }
  process.exitCode = error.exitCode ?? 1;
}

import { parentPort } from "node:worker_threads";
import { parsePlan } from "../flows/jobs/parse-plan.ts";
import type { PlanFile } from "../flows/jobs/plan-file.ts";
import { finishPlan, runShare } from "../flows/jobs/run-share.ts";
import type { FlowEvent } from "../run/events.ts";
import { packError } from "../run/threads/messages.ts";
import type { FromThread, ToThread } from "./job-data.ts";

/** The script of a thread that does the work of jobs, one at a time, while the main thread renews their locks. */

let file: PlanFile | undefined;
let stop = new AbortController();
let abort = new AbortController();

const send = (message: FromThread) => parentPort?.postMessage(message);

parentPort?.on("message", (message: ToThread) => {
  if (message.type === "stop") stop.abort();
  else if (message.type === "abort") abort.abort();
  else void work(message);
});

async function work({ plan, encoders, trustMap, work }: ToThread & { readonly type: "work" }): Promise<void> {
  stop = new AbortController();
  abort = new AbortController();
  const onEvent = (event: FlowEvent) => {
    if (event.type === "progress") {
      const { tasks, chunksRead, chunksWritten, bytesRead, bytesWritten } = event.progress;
      send({ type: "progress", counts: { tasks, chunksRead, chunksWritten, bytesRead, bytesWritten } });
    }
  };
  try {
    if (plan !== undefined) file = parsePlan(plan);
    if (file === undefined) throw new Error("no plan was sent");
    const options = { encoders, trustMap, stop: stop.signal, signal: abort.signal, onEvent };
    const report = await ("share" in work
      ? runShare(file, { ...options, ...work.share })
      : finishPlan(file, { ...options, verify: work.verify }));
    send({ type: "done", report });
  } catch (error) {
    send({ type: "failed", error: packError(error) });
  }
}

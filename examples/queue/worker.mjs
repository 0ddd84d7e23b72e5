// Runs jobs of the queue until SIGTERM. Store credentials come from the environment of this process.
import { worker } from "zarrflow/bullmq";

const stop = new AbortController();
for (const signal of ["SIGTERM", "SIGINT"]) process.once(signal, () => stop.abort());

try {
  await worker({
    connection: process.env.QUEUE_URL ?? "redis://127.0.0.1:6379",
    queue: process.env.QUEUE ?? "zarrflow",
    concurrency: Number(process.env.CONCURRENCY ?? 1),
    timeout: Number(process.env.TIMEOUT ?? 60),
    signal: stop.signal,
    onEvent: (event) => console.log(JSON.stringify(event)),
  });
} catch (error) {
  console.error(`${error.code}: ${error.message} ${error.details?.hint ?? ""}`);
  process.exitCode = error.exitCode ?? 1;
}

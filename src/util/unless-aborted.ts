import { abortError, onAbort } from "./abort.ts";
/** What `work` gives, or `aborted` once the signal is; the work itself goes on unheard. */
export async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal | null | undefined): Promise<T> {
  if (!signal) return work;
  let stopListening = () => {};
  const aborted = new Promise<never>((_, reject) => {
    const stop = () => reject(abortError(signal.reason));
    stopListening = onAbort(signal, stop);
    if (signal.aborted) stop();
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    stopListening();
  }
}

import { abortError, onAbort, throwIfAborted } from "./abort.ts";
/** Waits so many milliseconds. @throws `aborted` if the signal is aborted. */
export function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    throwIfAborted(signal);
    const timer = setTimeout(() => {
      stopListening();
      resolve();
    }, milliseconds);
    const stopListening = onAbort(signal, () => {
      clearTimeout(timer);
      reject(abortError(signal?.reason));
    });
  });
}

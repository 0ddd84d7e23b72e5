/** What a thread costs before it runs its first task, in milliseconds. */
const START_MS = 40;
/** Rough costs of a chunk, and of a decoded byte: whether a thread is worth its start is all that they tell. */
const CHUNK_MS = 0.03;
const BYTE_MS = 1.5e-6;

/** Threads that are worth their start for so many chunks, read and written, and decoded bytes. */
export function usefulThreads(chunks: number, decodedBytes: number): number {
  return Math.floor((chunks * CHUNK_MS + decodedBytes * BYTE_MS) / (2 * START_MS)) + 1;
}

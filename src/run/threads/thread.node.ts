/** Loads the thread implementation of this platform on demand. */
export const loadThreads = () => import("./node-thread.ts");

/** The threads that there are here, loaded on use. */
export const loadThreads = () => import("./node-thread.ts");

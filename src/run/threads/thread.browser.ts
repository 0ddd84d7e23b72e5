export const loadThreads = () => import("./page-thread.ts");

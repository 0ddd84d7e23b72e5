// Reads the first part of a slice and drops the reader; prints how many threads read. node drop-reader.mjs PACKAGE ARRAY
const [, , index, path] = process.argv;
const { slice } = await import(index);
const threads = new Set();
process.on("worker", ({ threadId }) => threads.add(threadId));
await slice(path, {}, { threads: 2 }).bytes().getReader().read();
console.log(threads.size);

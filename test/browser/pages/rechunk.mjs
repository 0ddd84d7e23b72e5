import { rechunk } from "zarrflow";
import { FileSystemStore } from "zarrflow/stores/file-system";
import { zipInStore } from "zarrflow/stores/zip";

let running = new AbortController();

/** Rechunks to a zip in the folder of the site; what failed is returned in words. */
globalThis.rechunkToZip = async (url, name, options) => {
  running = new AbortController();
  const store = new FileSystemStore(await navigator.storage.getDirectory());
  globalThis.tasksDone = 0;
  try {
    const { keysWritten, peakBuffers, threads } = await rechunk(url, zipInStore(store, name), {
      ...options,
      signal: running.signal,
      onEvent: ({ type }) => {
        if (type === "task-end") globalThis.tasksDone++;
      },
    });
    return { keysWritten, peakBuffers, threads: threads.map(({ thread }) => thread) };
  } catch ({ code, message }) {
    return { code, message };
  }
};

globalThis.stop = () => running.abort();

globalThis.namesInSite = async () => {
  const names = [];
  for await (const name of (await navigator.storage.getDirectory()).keys()) names.push(name);
  return names;
};

async function fileOf(name) {
  const folder = await navigator.storage.getDirectory();
  return (await folder.getFileHandle(name)).getFile();
}

/** Shows a link to a file of the site. */
globalThis.offer = async (name) => {
  const href = URL.createObjectURL(await fileOf(name));
  document.body.append(
    Object.assign(document.createElement("a"), { href, download: name, textContent: "save" }),
  );
};

/** Sends a file of the site to the server. */
globalThis.send = async (name, path) => {
  const { ok } = await fetch(path, { method: "PUT", body: await fileOf(name) });
  if (!ok) throw new Error(`the server does not take ${path}`);
};

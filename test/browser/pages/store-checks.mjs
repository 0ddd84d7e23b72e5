import { FileSystemStore, FilesStore, openZipBlob } from "zarrflow/stores/file-system";
import { storeChecks } from "zarrflow/stores/testing";
import { ZipWriter } from "zarrflow/stores/zip";

let folders = 0;

/** A new folder of the site. */
async function emptyFolder() {
  const root = await navigator.storage.getDirectory();
  return root.getDirectoryHandle(`folder-${folders++}`, { create: true });
}

async function filledFolder(values) {
  const store = new FileSystemStore(await emptyFolder());
  for (const [key, value] of values) await store.set(key, value);
  return store;
}

/** The values as a zip that is a blob. */
async function zipped(values) {
  const parts = [];
  const sink = {
    write: async (bytes) => void parts.push(bytes.slice()),
    close: async () => {},
    abort: async () => {},
  };
  const writer = new ZipWriter(sink, "zip of a test");
  for (const [key, value] of values) await writer.set(key, value);
  await writer.finish();
  return openZipBlob(new Blob(parts));
}

/** What is checked, by its name. */
const harnesses = {
  FileSystemStore: {
    lists: true,
    empty: async () => new FileSystemStore(await emptyFolder()),
    filled: filledFolder,
  },
  FilesStore: {
    lists: true,
    filled: async (values) => new FilesStore([...values].map(([key, value]) => [key, new Blob([value])])),
  },
  ZipStore: { lists: true, filled: zipped },
};

/** Runs all checks; returns how many, what was wrong with which, and what is left in the folders of the site. */
globalThis.runChecks = async () => {
  const wrong = [];
  const counts = {};
  for (const [kind, harness] of Object.entries(harnesses)) {
    const checks = storeChecks(harness);
    counts[kind] = checks.length;
    for (const { name, run } of checks)
      await run().catch((error) => wrong.push(`${kind}: ${name}: ${error}`));
  }
  return { counts, wrong, left: await leftNames(await navigator.storage.getDirectory()) };
};

/** Names of files that nobody should see any more. */
async function leftNames(folder) {
  const names = [];
  for await (const entry of folder.values()) {
    if (entry.kind === "directory") names.push(...(await leftNames(entry)));
    else if (/zarrflow-|\.crswap$/.test(entry.name)) names.push(entry.name);
  }
  return names;
}

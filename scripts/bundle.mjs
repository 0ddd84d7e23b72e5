// Bundles src/ into dist/: the scripts of each entry point and of the command, in few files, since each file costs a run
// of the command a quarter of a millisecond. Nothing is minified: Node prints the line that threw an uncaught error, and
// debuggers and profilers show names. Bundlers of pages minify.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, posix, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { inflateRawSync } from "node:zlib";
import { build } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const { version, exports, dependencies, peerDependencies } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);

const COMMAND = "cli/main";
const entries = Object.values(exports).flatMap(
  ({ default: path }) => path?.match(/dist\/(.*)\.js$/)?.[1] ?? [],
);

/** The script of worker threads, and the module that finds it in its own folder. Nothing that runs load at once imports it. */
const THREADS = ["node-thread", "worker"].map((name) => `run/threads/${name}`);

/** The script of threads that do jobs of BullMQ, in the folder of its entry point. */
const JOB_THREAD = "bullmq/thread";

/** Modules that help and version need. */
const ITSELF = ["util/package-version.node", "cli/command-list", "cli/text/help"];

/** Modules that only slices of the command load. They have their own file because a slice is so short. */
const SLICES = [
  "cli/dispatch",
  "cli/commands/slice",
  "tables/slice-format",
  "stores/directory",
  ...["option-effects", "node-findings"].map((name) => `flows/request/${name}`),
];

/** Modules that runs of the command on folders load, at once or on use: commands, flows, stores and codecs. */
const RUNS = [
  "cli/dispatch",
  ...["copy", "rechunk", "slice"].map((name) => `cli/commands/${name}`),
  ...["copy", "slice", "request/flow"].map((name) => `flows/${name}`),
  "tables/slice-format",
  ...THREADS,
  "run/threads/threads",
  "stores/directory",
  "targets/file-build",
  ...["items/bytes", "blosc/codec"].map((name) => `codecs/${name}`),
];

/** Modules that a page loads at once to open an array and read a part of it. Their file holds nothing else. */
const READS = [
  ...["hierarchy/open/open", "flows/slice", "codecs/items/bytes"],
  // loaded on use, but by most arrays of v3: its own file would cost a page a round trip
  "codecs/zstd/codec",
  // several of the files below import these at once: placed in one of them, they would make the others load it
  ...["hierarchy/open/open-node", "codecs/limits", "codecs/kernels/adler32", "util/crc32"],
  ...["sorted-keys", "writer", "reserved-names", "store-traits", "remote/server-counters"].map(
    (name) => `stores/${name}`,
  ),
];

/** Modules that a page loads on use, one file per subject so that few requests load each. The first match counts. */
const READS_ON_USE = {
  text: /parse-slice/,
  shards: /\/(?:sharding\/|checksum)/,
  zip: /^stores\/(?:zip|http\/)|^targets\/zip-upload-log|foreign-file/,
  other:
    /^(?:meta|hierarchy)\/|key-prefix|zarrita|\/(?:blosc|deflate|zstd)\/|\/(?:lz4|byte-filters)\.|wasm-filters/,
  codecs: /^codecs\//,
  s3: /^stores\/s3\//,
  labels: /labels|key-filter|decoded-slice|typed-values/,
  slabs: /./,
};

/** Modules that the file of browsers imports on use. */
const PAGE_THREAD = "run/threads/page-thread";

/** The entry points of pages: all but the command, queues, and what `#platform` reaches in Node. */
const WEB = entries.filter((entry) => !["stores/directory", "bullmq/index"].includes(entry));

const sourceOf = (entry) => join(root, `src/${entry}.ts`);

/**
 * Replaces the module that reads the version from package.json, which takes the command 2 ms, by the version itself.
 * Importers outside the command get a second copy: from a copy in the command's file, pages would load the command.
 */
const VERSION = sourceOf("util/package-version.node");
const versionInside = {
  name: "version-inside",
  resolveId(id, importer) {
    if (!importer || importer.startsWith("\0") || resolve(dirname(importer), id) !== VERSION)
      return undefined;
    return importer.startsWith(join(root, "src/cli/")) ? VERSION : "\0version";
  },
  load: (id) =>
    id === VERSION || id === "\0version"
      ? `export const packageVersion = () => ${JSON.stringify(version)};`
      : undefined,
};

/** Modules `x.node.ts` with a sibling `x.browser.ts`, which replaces them outside Node. */
const siblingOf = (path) => path.replace(/\.node\.ts$/, ".browser.ts");
const isOfPlatform = (path) => path.endsWith(".node.ts") && existsSync(siblingOf(path));
const ofPlatform = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((name) => join(root, "src", name))
  .filter(isOfPlatform)
  .sort();

/** The files that hold these modules, one for each platform; `imports` in package.json picks it by the importer's conditions. */
const PLATFORMS = {
  "platform/node": ofPlatform,
  "platform/browser": ofPlatform.map(siblingOf),
};
const platforms = {
  name: "platforms",
  resolveId(id, importer) {
    if (id in PLATFORMS) return `\0${id}`;
    if (importer?.startsWith("\0")) return undefined;
    const path = importer && resolve(dirname(importer), id);
    return path && isOfPlatform(path) ? { id: "#platform", external: true } : undefined;
  },
  load: (id) => PLATFORMS[id.slice(1)]?.map((path) => `export * from ${JSON.stringify(path)};`).join("\n"),
};

/** Cloudflare Workers cannot compile WebAssembly: their bundler takes the kernels as files. */
const forWorkerd = {
  name: "for-workerd",
  generateBundle() {
    const names = ["reading", "codecs"];
    for (const name of names) {
      const text = readFileSync(sourceOf(`codecs/kernels/wasm-bytes/${name}`), "utf8");
      const [, base64 = ""] = /"([^"]+)",/.exec(text) ?? [];
      const source = inflateRawSync(Buffer.from(base64, "base64"));
      this.emitFile({ type: "asset", fileName: `platform/${name}.wasm`, source });
    }
    const imports = names.map((name) => `import ${name} from "./${name}.wasm";\n`).join("");
    const code = `export * from "./browser.js";\n${imports}export const compiledKernels = { ${names.join(", ")} };\n`;
    this.emitFile({ type: "asset", fileName: "platform/workerd.js", source: code });
  },
};

/**
 * Rewrites dynamic imports. rolldown imports a module on use through a file of one line, if the module is in a file with
 * many others. Importing it directly from that file saves a run of the command ten files.
 */
const importedDirectly = {
  name: "imported-directly",
  generateBundle(_, files) {
    const passing = new Map();
    for (const { fileName, code = "", isEntry } of Object.values(files)) {
      if (fileName.endsWith(".js") && code.trim() === "") delete files[fileName];
      const [, taken, from, given] =
        /^import \{([^}]*)\} from "([^"]+)";\s*export \{([^}]*)\};\s*$/.exec(code) ?? [];
      const to = from && posix.join(dirname(fileName), from);
      if (given === undefined || !to.startsWith("parts/")) continue;
      const inside = new Map(pairs(taken).map(([exported, local]) => [local, exported]));
      const picked = pairs(given).map(([local, outside]) => `${outside}: m.${inside.get(local)}`);
      passing.set(fileName, { to, pick: `.then((m) => ({ ${picked.join(", ")} }))` });
      if (!isEntry) delete files[fileName];
    }
    for (const file of Object.values(files)) {
      // importing a part has no side effects
      file.code &&= file.code.replace(/^import "\.[^"]+";\n/gm, "");
      const own = [];
      const known = [];
      file.code &&= file.code.replace(/import\("(\.[^"]*)"\)/g, (call, path) => {
        const folder = dirname(file.fileName);
        const { to, pick } = passing.get(posix.join(folder, path)) ?? { to: posix.join(folder, path) };
        // esbuild does not support a file that imports itself
        if (file.fileName === to) {
          own.push(ownExports(file.code, pick));
          return `Promise.resolve().then(() => ownExports[${own.length - 1}]())`;
        }
        if (file.imports.includes(to) && pick !== undefined) {
          if (!known.includes(to)) known.push(to);
          return `Promise.resolve(known${known.indexOf(to)})${pick}`;
        }
        return pick === undefined
          ? call
          : `import("${posix.relative(folder, to).replace(/^(?!\.)/, "./")}")${pick}`;
      });
      // what is loaded anyway is not imported on use: bundlers would make a file that only re-exports it
      known.forEach((to, i) => {
        const path = posix.relative(dirname(file.fileName), to).replace(/^(?!\.)/, "./");
        file.code = `import * as known${i} from "${path}";\n${file.code}`;
      });
      // outside all functions, whose variables could have the name of an export
      if (own.length > 0) file.code += `\nconst ownExports = [${own.join(", ")}];\n`;
    }
  },
};

/** The names of a list `a, b as c`, each with its name elsewhere. */
function pairs(list) {
  return list.split(",").flatMap((item) => {
    const [name, as = name] = item.trim().split(" as ");
    return name === "" ? [] : [[name, as]];
  });
}

/** Source of a function that returns the exports of its own file; `pick` selects them. */
function ownExports(code, pick = "") {
  const [, list = ""] = /^export \{([^}]*)\};\s*$/m.exec(code) ?? [];
  const local = new Map(pairs(list).map(([inside, outside]) => [outside, inside]));
  const picked = [...pick.matchAll(/([\w$]+): m\.([\w$]+)/g)];
  if (picked.length === 0) throw new Error("a file imports all of itself");
  return `() => ({ ${picked.map(([, name, own]) => `${name}: ${local.get(own)}`).join(", ")} })`;
}

export async function bundle() {
  const ofItself = lazily((graph) => importedBy(ITSELF.map(sourceOf), graph));
  // modules that no page reaches go into separate files, which no file of a page imports
  const ofWeb = lazily((graph) => importedBy(WEB.map(sourceOf), graph, true));
  const ofReads = lazily((graph) => importedBy(READS.map(sourceOf), graph));
  const ofReadsOnUse = lazily((graph) => {
    const found = importedBy([sourceOf("read"), sourceOf(PAGE_THREAD)], graph, true);
    const onUse = new Set([...found].flatMap((id) => graph.getModuleInfo(id)?.dynamicallyImportedIds ?? []));
    onUse.add(sourceOf(PAGE_THREAD));
    const nameOf = (id) => relative(join(root, "src"), id);
    const subjects = Object.entries(READS_ON_USE);
    const subjectOf = (id) => subjects.find(([, of]) => of.test(nameOf(id)))?.[0];
    const idsOf = (name) => [...onUse].filter((id) => subjectOf(id) === name);
    return Object.fromEntries(subjects.map(([name]) => [name, importedBy(idsOf(name), graph)]));
  });
  const ofSlices = lazily((graph) => importedBy(SLICES.map(sourceOf), graph));
  const ofSlicesOfWeb = lazily((graph) => new Set([...ofSlices(graph)].filter((id) => ofWeb(graph).has(id))));
  const ofRuns = lazily((graph) => {
    const found = importedBy(RUNS.map(sourceOf), graph);
    for (const entry of THREADS) found.delete(sourceOf(entry));
    return found;
  });
  const ofRunsOfWeb = lazily((graph) => new Set([...ofRuns(graph)].filter((id) => ofWeb(graph).has(id))));
  await build({
    input: {
      ...Object.fromEntries(
        [COMMAND, ...THREADS, JOB_THREAD, ...entries].map((entry) => [entry, sourceOf(entry)]),
      ),
      ...Object.fromEntries(Object.keys(PLATFORMS).map((name) => [name, name])),
    },
    platform: "neutral",
    plugins: [platforms, versionInside, importedDirectly, forWorkerd],
    external: [/^(?:node:|#)/, ...Object.keys({ ...dependencies, ...peerDependencies })],
    treeshake: { moduleSideEffects: false },
    output: {
      dir: join(root, "dist"),
      entryFileNames: "[name].js",
      chunkFileNames: ({ name, facadeModuleId, moduleIds: [first = ""] }) =>
        `parts/${name === "codec" ? basename(dirname(facadeModuleId ?? first)) : name}.js`,
      minify: false,
      comments: { legal: false, annotation: true, jsdoc: false },
      codeSplitting: {
        // each file holds everything that its modules import at once and that no earlier file holds
        groups: Object.entries({
          itself: ofItself,
          read: ofReads,
          ...Object.fromEntries(
            Object.keys(READS_ON_USE).map((name) => [name, (graph) => ofReadsOnUse(graph)[name]]),
          ),
          sliced: ofSlicesOfWeb,
          slices: ofSlices,
          run: ofRunsOfWeb,
          files: ofRuns,
        }).map(([file, of], i, all) => ({
          debugName: file,
          name: (id, graph) => (of(graph).has(id) ? file : null),
          priority: all.length - i,
        })),
      },
    },
  });
}

/** The modules of these ids with all that they import, directly or not: at once, or on use as well. */
function importedBy(ids, graph, onUse = false) {
  const found = new Set();
  const left = [...ids];
  for (let id = left.pop(); id !== undefined; id = left.pop()) {
    if (found.has(id)) continue;
    found.add(id);
    const { importedIds = [], dynamicallyImportedIds = [] } = graph.getModuleInfo(id) ?? {};
    left.push(...importedIds, ...(onUse ? dynamicallyImportedIds : []));
  }
  return found;
}

function lazily(make) {
  let made;
  return (argument) => {
    made ??= make(argument);
    return made;
  };
}

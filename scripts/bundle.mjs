// Makes dist/ of src/: the scripts that each entry point and the command need, in few files, since each file costs a
// run of the command a quarter of a millisecond. Lines and names are those of src/: Node prints the line in which an
// uncaught error was thrown, and who debugs or profiles reads them. Bundlers of pages make them short.
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

/** The script of worker threads, and the module that finds it beside itself: what runs load at once never imports that. */
const THREADS = ["node-thread", "worker"].map((name) => `run/threads/${name}`);

/** The script of threads that do jobs of BullMQ, beside its entry. */
const JOB_THREAD = "bullmq/thread";

/** What the command says of itself needs nothing else. */
const ITSELF = ["util/package-version.node", "cli/command-list", "cli/text/help"];

/** What slices of the command load that no page does: apart from what other runs load, since they are over at once. */
const SLICES = [
  "cli/dispatch",
  "cli/commands/slice",
  "tables/slice-format",
  "stores/directory",
  ...["option-effects", "node-findings"].map((name) => `flows/request/${name}`),
];

/** What runs of the command on folders load, at once or on use: commands, flows, stores and codecs. */
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

/** What a page loads at once that opens an array and reads a part of it: it lies in a file of its own, with nothing else. */
const READS = [
  ...["hierarchy/open/open", "flows/slice", "codecs/items/bytes"],
  // loaded on use, by most arrays of v3: in a file of its own it would cost a page a round trip
  "codecs/zstd/codec",
  // several of the files below import these at once: in one of them, they would make the others load it
  ...["hierarchy/open/open-node", "codecs/limits", "codecs/kernels/adler32", "util/crc32"],
  ...["sorted-keys", "writer", "reserved-names", "store-traits", "remote/server-counters"].map(
    (name) => `stores/${name}`,
  ),
];

/** What it loads on use, by subject, the first that fits: a file for each, so that few requests load all of it. */
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

/** What the file of browsers imports on use. */
const PAGE_THREAD = "run/threads/page-thread";

/** The entry points of pages; the command, queues, and what `#platform` reaches in Node, are none. */
const WEB = entries.filter((entry) => !["stores/directory", "bullmq/index"].includes(entry));

const sourceOf = (entry) => join(root, `src/${entry}.ts`);

/**
 * The version itself in place of what reads it from package.json, which takes the command 2 ms. What else names it has a
 * module of its own: in that of the command, it would make pages load the command.
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

/** Modules `x.node.ts` that have a sibling `x.browser.ts`, which is what stands for them where there is no Node. */
const siblingOf = (path) => path.replace(/\.node\.ts$/, ".browser.ts");
const isOfPlatform = (path) => path.endsWith(".node.ts") && existsSync(siblingOf(path));
const ofPlatform = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .map((name) => join(root, "src", name))
  .filter(isOfPlatform)
  .sort();

/** All of them in one file for each platform, which package.json (`imports`) picks by the conditions of who imports. */
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

/** Workers of Cloudflare compile no WebAssembly: their bundler takes the kernels as files. */
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
 * What is imported on use out of a file of many modules comes by way of a file that holds one line. Here it is imported
 * from where it is, which spares a run of the command ten files.
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
      // nothing happens when a part is imported
      file.code &&= file.code.replace(/^import "\.[^"]+";\n/gm, "");
      const own = [];
      const known = [];
      file.code &&= file.code.replace(/import\("(\.[^"]*)"\)/g, (call, path) => {
        const folder = dirname(file.fileName);
        const { to, pick } = passing.get(posix.join(folder, path)) ?? { to: posix.join(folder, path) };
        // esbuild makes no sense of a file that imports itself
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
      // what is there anyway is not imported on use: bundlers would make a file of it that passes it on
      known.forEach((to, i) => {
        const path = posix.relative(dirname(file.fileName), to).replace(/^(?!\.)/, "./");
        file.code = `import * as known${i} from "${path}";\n${file.code}`;
      });
      // outside all functions, where no variable of theirs has the name of an export
      if (own.length > 0) file.code += `\nconst ownExports = [${own.join(", ")}];\n`;
    }
  },
};

/** The names of a list `a, b as c`, each with what it is called elsewhere. */
function pairs(list) {
  return list.split(",").flatMap((item) => {
    const [name, as = name] = item.trim().split(" as ");
    return name === "" ? [] : [[name, as]];
  });
}

/** A function that returns what a file exports, for use in that file: `pick` says which of it. */
function ownExports(code, pick = "") {
  const [, list = ""] = /^export \{([^}]*)\};\s*$/m.exec(code) ?? [];
  const local = new Map(pairs(list).map(([inside, outside]) => [outside, inside]));
  const picked = [...pick.matchAll(/([\w$]+): m\.([\w$]+)/g)];
  if (picked.length === 0) throw new Error("a file imports all of itself");
  return `() => ({ ${picked.map(([, name, own]) => `${name}: ${local.get(own)}`).join(", ")} })`;
}

export async function bundle() {
  const ofItself = lazily((graph) => importedBy(ITSELF.map(sourceOf), graph));
  // what no page reaches is files of their own, which nothing that a page loads imports
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
        // each file holds all that its modules import at once, or that is in a file before it
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

/** The modules of these ids with all that they import at once, or on use as well, and so on. */
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

// Makes dist/ of src/: the scripts that each entry point and the command need, in few files, since each file costs a
// run of the command a quarter of a millisecond. White space and long names of variables are left out; functions and
// classes keep theirs, for stack traces.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const { exports, dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const COMMAND = "cli/main";
const entries = Object.values(exports).flatMap(
  ({ default: path }) => path?.match(/dist\/(.*)\.js$/)?.[1] ?? [],
);

/** Scripts of worker threads, and the modules that find them beside themselves. */
const THREADS = ["threads", "worker", "slab-threads", "slab-worker"].map((name) => `flows/executors/${name}`);

/** What every flow loads lies together, folder by folder; the lower folders take what the upper ones share. */
const FOLDERS = ["util", "meta", "codecs", "stores", "streams", "hierarchy", "flows"];

export async function bundle() {
  const sourceOf = (entry) => join(root, `src/${entry}.ts`);
  const inGroups = lazily((graph) => {
    const first = imported(sourceOf(COMMAND), graph);
    return new Set([...imported(sourceOf("flows/rechunk"), graph)].filter((id) => !first.has(id)));
  });
  await build({
    input: Object.fromEntries([COMMAND, ...THREADS, ...entries].map((entry) => [entry, sourceOf(entry)])),
    platform: "neutral",
    external: [/^node:/, ...Object.keys(dependencies)],
    treeshake: { moduleSideEffects: false },
    output: {
      dir: join(root, "dist"),
      entryFileNames: "[name].js",
      chunkFileNames: "parts/[name]-[hash].js",
      minify: {
        compress: true,
        mangle: { toplevel: true, keepNames: true },
        codegen: { removeWhitespace: true },
      },
      comments: { legal: false, annotation: true, jsdoc: false },
      codeSplitting: {
        groups: FOLDERS.map((folder, i) => ({
          debugName: folder,
          priority: FOLDERS.length - i,
          test: (id) => id.startsWith(join(root, "src", folder, "/")),
          name: (id, graph) => (inGroups(graph).has(id) ? folder : null),
        })),
      },
    },
  });
}

/** The modules that `id` imports at once, and so on. */
function imported(id, graph, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const next of graph.getModuleInfo(id)?.importedIds ?? []) imported(next, graph, found);
  return found;
}

function lazily(make) {
  let made;
  return (argument) => {
    made ??= make(argument);
    return made;
  };
}

// @module-tag tools
import { execFile } from "node:child_process";
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { requireBuild, root } from "../built-package.ts";

// Each compiles the declarations of the platform, too.
vi.setConfig({ testTimeout: 180_000 });

const run = promisify(execFile);
const { resolve } = createRequire(import.meta.url);

/** What uses the package's types. */
const USES = ["narrowing.ts", "option-types.ts"];

/** A project that has installed what `npm pack` makes, and nothing else but Node's types. */
let project = "";

beforeAll(async () => {
  requireBuild();
  project = await mkdtemp(join(tmpdir(), "zarrflow-types-"));
  const installed = join(project, "node_modules/zarrflow");
  await mkdir(installed, { recursive: true });
  await run("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", project], { cwd: root });
  const [tarball = ""] = (await readdir(project)).filter((name) => name.endsWith(".tgz"));
  await run("tar", ["xzf", join(project, tarball), "-C", installed, "--strip-components=1"]);
  for (const name of ["@types/node", "undici-types"]) {
    await cp(join(root, "node_modules", name), join(project, "node_modules", name), { recursive: true });
  }
  const { exports } = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  const entries = Object.keys(exports).filter((name) => !name.endsWith(".json"));
  const imports = entries.map((name, i) => `export * as entry${i} from "zarrflow${name.slice(1)}";`);
  await writeFile(join(project, "every-entry.ts"), `${imports.join("\n")}\n`);
  for (const name of USES) await copyFile(join(root, "test/package", name), join(project, name));
  await writeFile(
    join(project, "wrong-use.ts"),
    'export * from "zarrflow/no-such-entry";\nimport type { no } from "zarrflow";\n',
  );
  await writeFile(join(project, "package.json"), '{ "type": "module" }');
});
afterAll(() => rm(project, { recursive: true, force: true }));

interface Setting {
  readonly lib: readonly string[];
  readonly types: readonly string[];
  readonly moduleResolution: "nodenext" | "bundler";
}

/** What a compiler says of the project. */
async function compile(compiler: string, { lib, types, moduleResolution }: Setting): Promise<string> {
  const compilerOptions = {
    ...{ target: "ES2022", lib, types, moduleResolution },
    module: moduleResolution === "bundler" ? "ESNext" : "NodeNext",
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
    ...{ skipLibCheck: false, noEmit: true, pretty: false },
  };
  const files = ["every-entry.ts", ...USES, "wrong-use.ts"];
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = resolve(`${compiler}/bin/tsc`);
  return run(process.execPath, [tsc, "-p", project], { cwd: project }).then(
    ({ stdout }) => stdout,
    ({ stdout }) => String(stdout),
  );
}

const platforms = [
  { platform: "the DOM", lib: ["ES2022", "DOM"], types: [] },
  { platform: "Node", lib: ["ES2022"], types: ["node"] },
  { platform: "both the DOM and Node", lib: ["ES2022", "DOM"], types: ["node"] },
  { platform: "neither the DOM nor Node", lib: ["ES2022"], types: [] },
];

/** What each compiler says of wrong-use.ts, and no more. */
const WRONG_USES = [
  /^wrong-use\.ts\(1,15\): error .*no-such-entry/,
  /^wrong-use\.ts\(2,15\): error .*no/,
] as const;

/** Every platform, the oldest and the newest compiler, and both ways to find modules, each once at least. */
const SOME = [
  "typescript-5.4, nodenext, Node",
  "typescript-5.4, bundler, the DOM",
  "typescript, nodenext, neither the DOM nor Node",
  "typescript, bundler, both the DOM and Node",
];

const settings = ["typescript-5.4", "typescript-5.9", "typescript"].flatMap((compiler) =>
  (["nodenext", "bundler"] as const).flatMap((moduleResolution) =>
    platforms.map((platform) => ({ compiler, moduleResolution, ...platform })),
  ),
);

for (const { compiler, moduleResolution, platform, lib, types } of settings) {
  const title = `${compiler}, ${moduleResolution}, ${platform}`;
  test(`compiles with the package, except what uses it wrongly: ${title}`, {
    tags: SOME.includes(title) ? [] : ["long"],
  }, async () => {
    const lines = (await compile(compiler, { lib, types, moduleResolution })).trimEnd().split("\n");
    expect(lines).toEqual([expect.stringMatching(WRONG_USES[0]), expect.stringMatching(WRONG_USES[1])]);
  });
}

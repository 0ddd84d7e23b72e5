// @module-tag tools
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { documents, isModule, moduleName } from "./code-block.ts";
import { UserProject } from "./user-project.ts";

const project = new UserProject();
afterAll(() => project.remove());

test("the modules of all pages and the examples compile strictly against the declarations of the package", () => {
  mkdirSync(join(project.folder, "blocks"));
  const modules = documents().flatMap(({ name, blocks }) =>
    blocks.filter(isModule).map((block) => ({ file: moduleName(name, block), text: block.text })),
  );
  for (const { file, text } of modules) project.write(file, text);
  const examples = ["", "jobs/"].flatMap((folder) =>
    readdirSync(join(project.folder, "examples", folder))
      .filter((name) => name.endsWith(".ts"))
      .map((name) => `${folder}${name}`),
  );
  project.write("wrong.ts", 'import { slice } from "zarrflow";\nslice(1, {}, { maxMemory: true });\n');
  const files = [
    ...modules.map(({ file }) => file),
    ...examples.map((name) => `examples/${name}`),
    "wrong.ts",
  ];
  const errors = project.typeErrors(files);
  expect(errors.get("wrong.ts")).toHaveLength(1);
  errors.delete("wrong.ts");
  expect(Object.fromEntries(errors)).toEqual({});
}, 300_000);

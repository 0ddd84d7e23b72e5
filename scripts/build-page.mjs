// Bundles the page of `zarrflow view` (src/cli/view/page) and embeds its script and its style, compressed, in
// src/cli/view/page-bytes.ts. Does nothing if that file was made from the same sources.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";
import { build, VERSION } from "rolldown";
import { firstLine } from "./first-line.mjs";

const MAX_BYTES = 30_000;

const view = fileURLToPath(new URL("../src/cli/view", import.meta.url));
const page = join(view, "page");
const output = join(view, "page-bytes.ts");

const stamp = `// Made by scripts/build-page.mjs of ${sourceHash()}.`;
if (firstLine(output) !== stamp) {
  const texts = { "page.css": style(), "page.js": await script() };
  const size = Object.values(texts).reduce((sum, text) => sum + text.length, 0);
  const pages = Object.entries(texts).map(([name, text]) => {
    return `  "${name}":\n    "${brotliCompressSync(text).toString("base64")}",\n`;
  });
  writeFileSync(output, `${stamp}\nexport const pages = {\n${pages.join("")}};\n`);
  console.error(`page: ${size} bytes, ${pages.join("").length} compressed`);
  if (pages.join("").length > MAX_BYTES) {
    console.error(`the page of view takes more than ${MAX_BYTES} bytes of the package`);
    process.exit(1);
  }
}

function sourceHash() {
  const hash = createHash("sha256")
    .update(VERSION)
    .update(readFileSync(fileURLToPath(import.meta.url)));
  for (const name of readdirSync(page).sort()) hash.update(name).update(readFileSync(join(page, name)));
  return hash.digest("hex");
}

function style() {
  return readFileSync(join(page, "page.css"), "utf8")
    .replace(/\/\*.*?\*\//gs, "")
    .replace(/\s+/g, " ")
    .replace(/ ?([{}:;,>]) ?/g, (match, mark) => (mark === ":" ? match.trimEnd() : mark));
}

async function script() {
  const { output } = await build({
    input: join(page, "main.ts"),
    platform: "browser",
    write: false,
    output: { format: "iife", minify: true, comments: { legal: false, annotation: false, jsdoc: false } },
  });
  return output[0].code;
}

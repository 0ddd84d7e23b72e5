// Compiles src/codecs/kernels/assembly (AssemblyScript) and embeds the module, deflated, as Base64 in src/codecs/kernels/wasm-bytes.ts.
// Does nothing when that file was made of the same sources.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { firstLine } from "./first-line.mjs";

const MAX_BYTES = 45_000;
const OPTIONS = [
  ...["--runtime", "stub", "--use", "abort="],
  ...["--optimizeLevel", "3", "--shrinkLevel", "0", "--converge"],
  ...["--enable", "simd", "--zeroFilledMemory"],
];

const kernels = join(dirname(fileURLToPath(import.meta.url)), "../src/codecs/kernels");
const assembly = join(kernels, "assembly");
const output = join(kernels, "wasm-bytes.ts");
const { version } = createRequire(import.meta.url)("assemblyscript/package.json");

const stamp = `// Made by scripts/build-kernels.mjs of ${sourceHash()}.`;
if (firstLine(output) !== stamp) {
  const bytes = await compile();
  if (bytes.length > MAX_BYTES) fail(`the kernels have ${bytes.length} bytes, above ${MAX_BYTES}`);
  const text = deflateRawSync(bytes, { level: 9 }).toString("base64");
  const size = `export const WASM_SIZE = ${bytes.length};`;
  writeFileSync(output, `${stamp}\n${size}\nexport const packedWasm =\n  "${text}";\n`);
  console.error(`kernels: ${bytes.length} bytes of WebAssembly`);
}

/** Of all that the module depends on. */
function sourceHash() {
  const hash = createHash("sha256").update("deflated").update(version).update(OPTIONS.join(" "));
  for (const name of readdirSync(assembly).sort())
    hash.update(name).update(readFileSync(join(assembly, name)));
  return hash.digest("hex");
}

async function compile() {
  const { default: asc } = await import("assemblyscript/asc");
  let bytes;
  const { error, stderr } = await asc.main(["index.ts", "--outFile", "kernels.wasm", ...OPTIONS], {
    readFile(name, base) {
      try {
        return readFileSync(join(base === "." ? assembly : base, name), "utf8");
      } catch {
        return null;
      }
    },
    writeFile(_name, contents) {
      bytes = contents;
    },
    listFiles: () => [],
  });
  if (error) fail(`${stderr.toString()}\n${error.message}`);
  return bytes;
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

// Compiles src/codecs/kernels/assembly (AssemblyScript) into two modules that share a memory, and embeds them, deflated, as
// Base64 in src/codecs/kernels/wasm-bytes. One has what reading needs, which pages load at once; the other has the codecs.
// Does nothing if those files were made from the same sources.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { deflateRawSync } from "node:zlib";
import { firstLine } from "./first-line.mjs";

const MAX_BYTES = { reading: 13_000, codecs: 31_000 };
const OPTIONS = [
  ...["--runtime", "stub", "--use", "abort="],
  ...["--optimizeLevel", "3", "--shrinkLevel", "0", "--converge"],
  ...["--enable", "simd", "--zeroFilledMemory"],
];
const PAGE = 65_536;

const kernels = join(dirname(fileURLToPath(import.meta.url)), "../src/codecs/kernels");
const assembly = join(kernels, "assembly");
const outputOf = (name) => join(kernels, "wasm-bytes", `${name}.ts`);
const { version } = createRequire(import.meta.url)("assemblyscript/package.json");

const stamp = `// Made by scripts/build-kernels.mjs of ${sourceHash()}.`;
if (["reading", "codecs"].some((name) => firstLine(outputOf(name)) !== stamp)) {
  // the static data of codecs follow those of reading, whose initial memory has room for both
  const codecsBase = Math.ceil(heapBase(await compile("reading")) / 64) * 64;
  const codecs = await compile("codecs", "--importMemory", "--memoryBase", codecsBase);
  const end = heapBase(codecs, { memory: new WebAssembly.Memory({ initial: 512 }) });
  const reading = await compile("reading", "--initialMemory", Math.ceil(end / PAGE));
  write("reading", reading, `export const HEAP_BASE = ${end};\n`);
  write("codecs", codecs);
}

function write(name, bytes, more = "") {
  if (bytes.length > MAX_BYTES[name])
    fail(`kernels of ${name}: ${bytes.length} bytes, above ${MAX_BYTES[name]}`);
  const text = deflateRawSync(bytes, { level: 9 }).toString("base64");
  const packed = `export const packedWasm = {\n  size: ${bytes.length},\n  base64:\n    "${text}",\n};\n`;
  mkdirSync(dirname(outputOf(name)), { recursive: true });
  writeFileSync(outputOf(name), `${stamp}\n${more}${packed}`);
  console.error(`kernels of ${name}: ${bytes.length} bytes of WebAssembly`);
}

/** Start of the memory that a module does not use. */
function heapBase(bytes, env = {}) {
  return new WebAssembly.Instance(new WebAssembly.Module(bytes), { env }).exports.heapBase.value;
}

/** Hash of everything that the module depends on. */
function sourceHash() {
  const hash = createHash("sha256").update("two").update(version).update(OPTIONS.join(" "));
  for (const name of readdirSync(assembly).sort())
    hash.update(name).update(readFileSync(join(assembly, name)));
  return hash.digest("hex");
}

async function compile(name, ...options) {
  const { default: asc } = await import("assemblyscript/asc");
  let bytes;
  const { error, stderr } = await asc.main(
    [`${name}.ts`, "--outFile", "kernels.wasm", ...OPTIONS, ...options.map(String)],
    {
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
    },
  );
  if (error) fail(`${stderr.toString()}\n${error.message}`);
  return bytes;
}

function fail(reason) {
  console.error(reason);
  process.exit(1);
}

import { ZarrflowError } from "../util/errors.ts";
import { listed, nearestName } from "../util/names.ts";
import { loadCommands } from "./command-list.ts";
import type { Command, UnknownFlag } from "./parse-arguments.ts";

/** Names that other programs give to flags, by our flag. */
const ELSEWHERE: Readonly<Record<string, readonly string[]>> = {
  alone: ["no-companions"],
  anonymous: ["anon", "no-sign-request", "public"],
  bwlimit: ["bandwidth-limit", "limit-rate"],
  chunks: ["c", "chunk-shape", "chunk-size", "chunksize", "target-chunks"],
  codec: ["compress", "compression", "compressor", "filter"],
  dim: ["append-dim", "axis", "dimension"],
  "dry-run": ["n", "dryrun", "whatif"],
  factor: ["downscale", "scale", "scale-factor"],
  "if-exists replace": ["f", "clobber", "force", "overwrite", "replace", "y", "yes"],
  "if-exists skip": ["ignore-existing", "no-clobber", "skip-existing"],
  include: ["array", "arrays", "only", "var", "variable", "variables", "vars"],
  io: ["concurrency", "max-concurrency", "parallel", "requests", "transfers"],
  "max-mem": ["mem", "memory", "memory-limit", "ram"],
  nearest: ["method-nearest"],
  output: ["o", "out", "outfile", "output-file"],
  quiet: ["q", "silent"],
  scratch: ["temp", "temp-dir", "temp-store", "tempdir", "tmp", "tmpdir"],
  shards: ["shard", "shard-shape"],
  slice: ["isel", "range", "ranges", "region", "sel", "select", "subset"],
  threads: ["cores", "cpus", "j", "jobs", "nprocs", "procs", "workers"],
  to: ["format", "target-format", "zarr-format", "zarr-version", "zarr_format", "zarr_version"],
  "max-requests-per-second": ["rate", "requests-per-second", "rps", "tpslimit"],
  trace: ["debug", "log", "log-file", "v", "verbose"],
  update: ["delete", "incremental", "mirror", "sync", "u"],
  verify: ["check", "checksum"],
};

/**
 * Returns the error about a flag that a command does not have. Its hint names the flag that is probably meant, or the
 * commands that have such a flag.
 */
export async function explainFlag(
  { flag, message }: UnknownFlag,
  name: string,
  command: Command,
): Promise<ZarrflowError> {
  const bare = flag.replace(/^-+/, "");
  const hint =
    command.elsewhere?.[bare] ??
    synonymHint(bare, name, command) ??
    (await otherCommandsHint(bare, name)) ??
    nearHint(bare, command) ??
    `Run \`zarrflow ${name} --help\` to see its flags.`;
  return new ZarrflowError("invalid-option", message, { hint });
}

function synonymHint(bare: string, name: string, { options, usage }: Command): string | undefined {
  const [ours] = Object.entries(ELSEWHERE).find(([, theirs]) => theirs.includes(bare)) ?? [];
  if ((ours ?? bare) === "output" && !Object.hasOwn(options, "output") && / DST\b/.test(usage)) {
    return `Put the target after the source: zarrflow ${name} SRC DST.`;
  }
  if (ours === undefined || !Object.hasOwn(options, ours.split(" ")[0] ?? "")) return undefined;
  return `Did you mean \`--${ours}\`?`;
}

async function otherCommandsHint(bare: string, name: string): Promise<string | undefined> {
  const commands = await loadCommands();
  const others = commands.flatMap(([other, { options }]) => (Object.hasOwn(options, bare) ? [other] : []));
  if (others.length === 0 || bare.length < 2) return undefined;
  return `It is a flag of ${listed(others.map((name) => `\`${name}\``))}, not of \`${name}\`.`;
}

function nearHint(bare: string, { options }: Command): string | undefined {
  const positive = bare.replace(/^no-/, "");
  if (positive !== bare && Object.hasOwn(options, positive)) {
    const hasOff = options[positive]?.choices?.includes("off");
    return hasOff ? `Did you mean \`--${positive}=off\`?` : `Omit it: --${positive} is off by default.`;
  }
  const near = nearestName(bare, Object.keys(options));
  return near && `Did you mean \`--${near}\`?`;
}

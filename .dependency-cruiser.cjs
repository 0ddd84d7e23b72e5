/**
 * Imports point one way: cli | bullmq -> tables -> flows -> run -> plan -> hierarchy -> streams -> targets -> codecs | stores
 * -> meta -> descriptors -> util.
 * Descriptors (codecs/catalog.ts) list for every other layer which codecs there are. Each loads its codec on first use.
 */
const descriptors = "^src/codecs/(catalog|descriptor|option-parts)\\.ts$";
const layers = [
  "util",
  "meta",
  "codecs|stores",
  "targets",
  "streams",
  "hierarchy",
  "plan",
  "run",
  "flows",
  "tables",
  "cli|bullmq",
];

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: "no-cycles",
      severity: "error",
      from: {},
      // what the machine has is imported on use, by modules that are below it
      to: { circular: true, viaOnly: { pathNot: "/(files|target-files|machine)\\.node\\.ts$" } },
    },
    {
      name: "platforms-import-on-use",
      severity: "error",
      from: { path: "^src/.*(?<!process-record|scratch-folder)\\.(node|browser)\\.ts$" },
      to: { path: "^src/", dynamic: false, dependencyTypesNot: ["type-only", "type-import"] },
    },
    ...layers.slice(0, -1).map((layer, i) => ({
      name: `${layer}-points-down`,
      severity: "error",
      from: { path: `^src/(${layer})/` },
      to: {
        path: `^src/(${layers.slice(i + 1).join("|")})/`,
        ...(layer === "meta" && { pathNot: descriptors }),
      },
    })),
    {
      name: "descriptors-are-pure",
      severity: "error",
      from: { path: descriptors },
      to: { path: ".", pathNot: [descriptors, "^src/util/"], dynamic: false },
    },
    {
      name: "codecs-and-stores-apart",
      severity: "error",
      from: { path: "^src/codecs/" },
      to: { path: "^src/stores/" },
    },
    {
      name: "stores-know-no-metadata",
      severity: "error",
      from: { path: "^src/stores/" },
      to: { path: "^src/(codecs|meta)/" },
    },
    {
      name: "pure-parts-do-no-io",
      severity: "error",
      from: { path: "^src/(util|meta|streams|hierarchy|plan)/", pathNot: "\\.node\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    // an open array can be sliced: what reads slices is above it, and imported on use by this module alone
    doNotFollow: { path: ["node_modules", "^src/hierarchy/slice\\.ts$"] },
  },
};

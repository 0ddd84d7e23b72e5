/** Imports point one way: cli -> flows -> hierarchy -> streams -> codecs | stores -> meta -> util. */
const layers = ["util", "meta", "codecs|stores", "streams", "hierarchy", "flows", "cli"];

/** @type {import("dependency-cruiser").IConfiguration} */
module.exports = {
  forbidden: [
    { name: "no-cycles", severity: "error", from: {}, to: { circular: true } },
    ...layers.slice(0, -1).map((layer, i) => ({
      name: `${layer}-points-down`,
      severity: "error",
      from: { path: `^src/(${layer})/` },
      to: { path: `^src/(${layers.slice(i + 1).join("|")})/` },
    })),
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
      from: { path: "^src/(util|meta|streams|hierarchy|flows/plan)/", pathNot: "\\.node\\.ts$" },
      to: { dependencyTypes: ["core"] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    doNotFollow: { path: "node_modules" },
  },
};

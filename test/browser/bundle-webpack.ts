import webpack, { type Configuration } from "webpack";

/** Bundles by webpack for production; what it warns of fails. */
export function bundleByWebpack(options: Configuration): Promise<void> {
  return new Promise((resolve, reject) => {
    webpack(
      { mode: "production", optimization: { minimize: false }, performance: false, ...options },
      (error, stats) => {
        const { errors = [], warnings = [] } = stats?.toJson({ errors: true, warnings: true }) ?? {};
        const said = [...errors, ...warnings].map(({ message }) => message);
        if (error || said.length > 0) reject(error ?? new Error(said.join("\n")));
        else resolve();
      },
    );
  });
}

// Runs the tests with one changed source file (MUTANT), or records the calls of each test file.
import { mergeConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import config from "../../vitest.config.ts";

type Mutant = { readonly path: string; readonly start: number; readonly end: number; readonly text: string };

const { MUTANT, CALLS_FILE, TEST_ORDER = "" } = process.env;
const mutant: Mutant | undefined = MUTANT ? JSON.parse(MUTANT) : undefined;
const order = TEST_ORDER.split(",");

class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification) => order.findIndex((path) => moduleId.endsWith(path));
    return [...files].sort((a, b) => placeOf(a) - placeOf(b));
  }
}

const changed = {
  name: "mutant",
  enforce: "pre" as const,
  transform(code: string, id: string) {
    if (!mutant || !id.endsWith(`/${mutant.path}`)) return;
    return code.slice(0, mutant.start) + mutant.text + code.slice(mutant.end);
  },
};

export default mergeConfig(config, {
  root: new URL("../..", import.meta.url).pathname,
  plugins: [changed],
  test: {
    ...(MUTANT && { sequence: { sequencer: InOrder } }),
    ...(CALLS_FILE && { setupFiles: ["scripts/mutants/record-calls.ts"] }),
  },
});

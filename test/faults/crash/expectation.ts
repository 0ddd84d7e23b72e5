import type { Contents, Place } from "./places.ts";
import { nameOf } from "./states.ts";
import { type View, viewsOf } from "./views.ts";

export type Views = Readonly<Record<"own" | "consolidated", View>>;

const NAMES = ["own", "consolidated"] as const;

/** What readers find at a place. Of equal contents it is read once. */
export class Readings {
  readonly #views = new Map<string, Views>();

  async at(place: Place): Promise<Views> {
    const contents: Contents | undefined = await place.contents?.();
    const name = contents && nameOf(contents);
    const known = name === undefined ? undefined : this.#views.get(name);
    const views = known ?? (await viewsAt(place));
    if (name !== undefined) this.#views.set(name, views);
    return views;
  }
}

/** What readers may find at a place whose contents are changed, by what they found before and find after. */
export class Expectation {
  readonly #first: Views;
  readonly #last: Views;

  constructor(first: Views, last: Views) {
    this.#first = first;
    this.#last = last;
  }

  /** Arrays with other values than the old ones and the new ones. */
  wrongIn(views: Views): string[] {
    const isAllowed = (name: (typeof NAMES)[number], path: string, values: string) =>
      [this.#first, this.#last].some((seen) =>
        [seen[name], seen.own].some((view) => view.get(path) === values),
      );
    return NAMES.flatMap((name) =>
      [...views[name]]
        .filter(([path, values]) => !isAllowed(name, path, values))
        .map(([path, values]) => `${name} ${path}: ${values}`),
    );
  }

  /** Views in which not all is as it is after a whole run. */
  unmendedIn(views: Views): string[] {
    return NAMES.filter((name) => sorted(views[name]) !== sorted(this.#last[name])).map(
      (name) => `${name} is not mended: ${sorted(views[name])}`,
    );
  }
}

function sorted(view: View): string {
  return [...view]
    .map((entry) => entry.join(" = "))
    .sort()
    .join("\n");
}

async function viewsAt(place: Place): Promise<Views> {
  const store = await place.open();
  if (store === undefined) return { own: new Map(), consolidated: new Map() };
  try {
    return await viewsOf(store);
  } finally {
    await store.close?.();
  }
}

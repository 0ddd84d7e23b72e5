export type Child = Node | string | false | undefined;
type Listener = (event: never) => void;
type Properties = Readonly<Record<string, string | number | boolean | undefined | Listener>>;

/** Creates an element with attributes, children, and listeners such as `onclick`. Text cannot become markup. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Properties = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  setAll(element, properties);
  fill(element, ...children);
  return element;
}

export function svg(tag: string, properties: Properties = {}, ...children: readonly Child[]): SVGElement {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(element, properties);
  fill(element, ...children);
  return element;
}

function setAll(element: Element, properties: Properties): void {
  for (const [name, value] of Object.entries(properties)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value as EventListener);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, `${value}`);
  }
}

/** Replaces the content of an element. */
export function fill(element: Element, ...children: readonly Child[]): void {
  const nodes = children.filter((child) => child !== undefined && child !== false);
  element.replaceChildren(...nodes.map((child) => (typeof child === "string" ? plain(child) : child)));
}

/** Replaces characters that change the direction of writing or are invisible. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu, (character) =>
    /[\n\t]/.test(character) ? character : "\ufffd",
  );
}

let labels = 0;

/** A form control with its label in front. */
export function labeled(text: string, control: HTMLElement): HTMLElement {
  control.id ||= `control-${labels++}`;
  return el("span", { class: "field" }, el("label", { for: control.id }, text), control);
}

export function select(
  options: readonly (readonly [value: string, text: string])[],
  value: string,
  onchange: (value: string) => void,
): HTMLSelectElement {
  const element = el(
    "select",
    { onchange: () => onchange(element.value) },
    ...options.map(([one, text]) => el("option", { value: one }, text)),
  );
  element.value = value;
  return element;
}

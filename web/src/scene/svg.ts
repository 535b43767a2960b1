const SPACE = 'http://www.w3.org/2000/svg';

export type Attributes = Record<string, string | number>;

/** Makes an SVG element inside another. */
export function add<K extends keyof SVGElementTagNameMap>(
  parent: Element,
  name: K,
  attributes: Attributes = {},
): SVGElementTagNameMap[K] {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  parent.append(element);
  return element;
}

/** Writes an attribute only where it changes: a frame in which nothing moved touches nothing. */
export function set(element: Element, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function show(element: Element, visible: boolean): void {
  if (visible) element.removeAttribute('display');
  else set(element, 'display', 'none');
}

/** Does it on a click, and on the keys that press a button. */
export function onPress(element: SVGElement, press: () => void): void {
  element.addEventListener('click', press);
  element.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    press();
  });
}

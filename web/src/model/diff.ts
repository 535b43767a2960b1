/** One leaf of an inspected object: where it lies, and its value as text. */
export interface Leaf {
  path: string;
  text: string;
}

/** The leaves of a plain object in their order; arrays count as one leaf when they hold only plain values. */
export function leaves(value: unknown, path = ''): Leaf[] {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    return [{ path, text: value.length === 0 ? '–' : value.map(plain).join(', ') }];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) =>
      leaves(inner, path === '' ? key : `${path}.${key}`),
    );
  }
  return [{ path, text: plain(value) }];
}

/** Paths whose text differs between two inspections, those that came or went included. */
export function changes(before: unknown, after: unknown): Set<string> {
  const old = new Map(leaves(before).map(({ path, text }) => [path, text]));
  const changed = new Set<string>();
  for (const { path, text } of leaves(after)) {
    if (old.get(path) !== text) changed.add(path);
    old.delete(path);
  }
  for (const path of old.keys()) changed.add(path);
  return changed;
}

function plain(value: unknown): string {
  return value === null || value === undefined ? '–' : String(value);
}

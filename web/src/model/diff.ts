/** One leaf of an inspected object: where it lies, and its value. */
export interface Leaf {
  path: string;
  value: unknown;
}

/** The leaves of a plain object in their order; arrays of plain values are joined to one leaf. */
export function leaves(value: unknown, path = ''): Leaf[] {
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object' || item === null)) {
    return [{ path, value: value.length === 0 ? null : value.join(', ') }];
  }
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, inner]) =>
      leaves(inner, path === '' ? key : `${path}.${key}`),
    );
  }
  return [{ path, value }];
}

/** Paths whose value differs between two inspections, those that came or went included. */
export function changes(before: unknown, after: unknown): Set<string> {
  const old = new Map(leaves(before).map(({ path, value }) => [path, value]));
  const changed = new Set<string>();
  for (const { path, value } of leaves(after)) {
    if (!old.has(path) || old.get(path) !== value) changed.add(path);
    old.delete(path);
  }
  for (const path of old.keys()) changed.add(path);
  return changed;
}

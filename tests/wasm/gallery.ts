// The gallery and its recorded traces, for the tests in TypeScript.
import { readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('../../scenarios/', import.meta.url);

/** The generated package of the whole simulator. */
export const PACKAGE = new URL('../../web/src/engine/pkg/', import.meta.url);

/** Those of its other builds. */
export const SMALLER = {
  raft: new URL('raft/', PACKAGE),
  peers: new URL('peers/', PACKAGE),
  stores: new URL('stores/', PACKAGE),
};

/** The JSON Schema of its files. */
export const SCHEMA = new URL('schema/v1.json', FOLDER);

/** Files that are refused; the page and the command are shown the same ones. */
export const BAD = new URL('bad/', FOLDER);

/** The code of a bad file's refusal: its name, up to what tells it from others of the code. */
export function code(file: string): string {
  return file.slice(0, file.indexOf('.'));
}

/** Runs of public reports that are not in the gallery. */
export const REPORTS = new URL('reports/', FOLDER);

/** Every scenario of the gallery, or of another folder, by its name, as text. */
export function scenarios(folder = FOLDER): Map<string, string> {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  return new Map(
    names.sort().map((name) => [name.slice(0, -5), readFileSync(new URL(name, folder), 'utf8')]),
  );
}

/** The hash of every trace, as the native simulator recorded it. */
export function recorded(): Record<string, string> {
  const lines = readFileSync(new URL('../../scenarios/traces.txt', import.meta.url), 'utf8')
    .trim()
    .split('\n');
  return Object.fromEntries(lines.map((line) => line.split(' ').slice(0, 2)));
}

// The published JSON Schema beside the reader: what the gallery holds fits it, and what it refuses the reader refuses too.
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { BAD, code, PACKAGE, REPORTS, SCHEMA, scenarios } from './gallery';

const fits = new Ajv2020({ allErrors: true, allowUnionTypes: true }).compile(
  JSON.parse(readFileSync(SCHEMA, 'utf8')),
);

/** What a schema cannot say: it takes several fields together, a sum, or more than a pattern. */
const BEYOND = new Set([
  'after-end',
  'bad-seed',
  'cluster-size',
  'deadline-too-long',
  'deadline-too-short',
  'election-range',
  'empty-range',
  'fifo-duplicates',
  'heartbeat-too-slow',
  'impatient',
  'inexact-seed',
  'incomplete',
  'lease-too-short',
  'named-twice',
  'needs-connections',
  'needs-store',
  'no-deadline',
  'nobody-votes',
  'notification-range',
  'of-another-scheme',
  'no-link',
  'no-log',
  'no-rule',
  'no-slack',
  'no-voters',
  'no-watches',
  'one-server',
  'not-seconds',
  'not-with-store',
  'other-scheme',
  'quorum-beyond-nodes',
  'rate-bound',
  'too-few-replicas',
  'too-large',
  'too-many',
  'too-many-writes',
  'too-small',
  'unknown-node',
  'wait-too-long',
  'fetch-timeout',
  'needs-brokers',
  'too-few-brokers',
  'too-few-in-sync',
  'lag-within-wait',
  'request-timeout',
]);

describe('the published schema', () => {
  let read: (text: string) => unknown;

  beforeAll(async () => {
    const wasm = await import(new URL('tenure_wasm.js', PACKAGE).href);
    wasm.initSync({ module: readFileSync(new URL('tenure_wasm_bg.wasm', PACKAGE)) });
    read = (text) => JSON.parse(new wasm.World(text).scenario());
  });

  test('fits every scenario of the gallery, as written and as written back, and every run of a report', () => {
    for (const [name, text] of scenarios()) {
      expect(fits(JSON.parse(text)) || fits.errors, name).toBe(true);
      expect(fits(read(text)) || fits.errors, `${name}, written back`).toBe(true);
      expect(JSON.parse(text).$schema, name).toBe('schema/v1.json');
    }
    for (const [name, text] of scenarios(REPORTS)) {
      expect(fits(JSON.parse(text)) || fits.errors, name).toBe(true);
      expect(JSON.parse(text).$schema, name).toBe('../schema/v1.json');
    }
  });

  test('refuses every bad scenario whose fault a schema can name', () => {
    const files = readdirSync(BAD).filter((file) => code(file) !== 'syntax' && !BEYOND.has(code(file)));
    expect(files.length).toBeGreaterThan(15);
    for (const file of files)
      expect(fits(JSON.parse(readFileSync(new URL(file, BAD), 'utf8'))), file).toBe(false);
  });
});

// Sizes as a visitor pays for them, and the budgets that bind them.
import { gzipSync } from 'node:zlib';
import { Fail } from './run.mjs';

/** Budgets in bytes after gzip. */
export const BUDGETS = { module: 60_000, page: 150_000 };

export function gzipSize(bytes) {
  return gzipSync(bytes, { level: 9 }).length;
}

export function kilobytes(bytes) {
  return `${(bytes / 1000).toFixed(1)} KB`;
}

/** Prints a size beside its budget, and fails above it. */
export function checkBudget(what, bytes, budget) {
  console.log(`${what}: ${kilobytes(bytes)} gzip of ${kilobytes(budget)}`);
  if (bytes > budget) {
    throw new Fail(
      `${what} is ${kilobytes(bytes - budget)} over its budget: make it smaller, or say in the change why the budget ` +
        'in scripts/lib/sizes.mjs must rise.',
    );
  }
}

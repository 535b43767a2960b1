// The Node.js that runs these scripts.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Fail, root } from './run.mjs';

/** Refuses a Node.js that package.json does not name. */
export function checkNode() {
  const { node } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines;
  if (!node.split('||').some((range) => fits(process.versions.node, range.trim()))) {
    throw new Fail(`Node.js ${process.versions.node} does not fit: ${node} is needed (https://nodejs.org).`);
  }
}

// A range is ^20.19.0 (that major version, from there on) or >=22.12.0 (any from there on).
function fits(version, range) {
  const [major, minor] = version.split('.').map(Number);
  const [, kind, leastMajor, leastMinor] = range.match(/^(\^|>=)(\d+)\.(\d+)/);
  if (major === Number(leastMajor)) return minor >= Number(leastMinor);
  return kind === '>=' && major > Number(leastMajor);
}

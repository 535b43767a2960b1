// npm start: from a fresh clone to the page in one command. With --dev (npm run dev) the page is served from its
// sources and changes as they do.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPage, DIST } from './build.mjs';
import { checkNode } from './lib/node.mjs';
import { installPackages } from './lib/packages.mjs';
import { Fail, main, root } from './lib/run.mjs';
import { checkRust } from './lib/toolchain.mjs';
import { buildWasm, SIMULATORS } from './wasm.mjs';

const USAGE = 'npm start -- [--port NUMBER] [--host ADDRESS]';

await main(async (args) => {
  const { dev, port, host } = options(args);
  checkNode();
  checkRust();
  await installPackages();
  // Who wants to see the page is not kept from it by a budget: npm run build and npm test hold it.
  for (const module of SIMULATORS) await buildWasm(module, { binding: false });
  if (!dev) await buildPage({ binding: false });

  const web = join(root, 'web');
  const where = { port, host, strictPort: false };
  const { createServer, preview } = await import('vite');
  const server = dev
    ? await createServer({ root: web, server: where })
    : await preview({ root: web, base: './', build: { outDir: DIST }, preview: where });
  if (dev) await server.listen();
  console.log('\nTenure is running (end it with Ctrl-C):');
  for (const url of [...server.resolvedUrls.local, ...server.resolvedUrls.network]) console.log(`  ${url}`);
});

function options(args) {
  let values;
  try {
    ({ values } = parseArgs({
      args,
      options: { dev: { type: 'boolean' }, port: { type: 'string' }, host: { type: 'string' } },
    }));
  } catch (error) {
    throw new Fail(`${error.message}\nUsage: ${USAGE}`);
  }
  const port = Number(values.port ?? (values.dev ? 5173 : 4173));
  if (!Number.isInteger(port) || port < 1 || port > 65535) {
    throw new Fail(
      `--port is ${JSON.stringify(values.port)}: give a number from 1 to 65535.\nUsage: ${USAGE}`,
    );
  }
  return { dev: values.dev ?? false, port, host: values.host };
}

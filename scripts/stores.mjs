// npm run test:stores: the simulated stores beside the real ones, the same random commands to both; and takeovers of servers
// that elect their own leader beside simulated ones.
//
//     npm run test:stores -- [--commands N] [--kills N] [--only NAME[,NAME…]] [--seed N]
//
// As root on Debian the servers are installed. Exit codes are the program's (tests/stores/src/main.rs): 3 when a server is
// missing here.
import { spawnSync } from 'node:child_process';
import { canInstall, installSystem } from './lib/debian.mjs';
import { Fail, isEntry, main, root } from './lib/run.mjs';

// None of them starts by itself where no system is booted. PostgreSQL's and ZooKeeper's bring their own accounts.
const PACKAGES = [
  'redis-server',
  'etcd-server',
  'zookeeper',
  'default-jre-headless',
  'postgresql',
  'gcc',
  'libc6-dev',
];
/** What the program says when a server is missing. */
const MISSING = 3;

/**
 * Compares with as many commands as it takes to see every kind of reply, and a few takeovers; where servers are missing and may not be
 * installed, says so.
 */
export async function checkStores() {
  const code = await compareStores(['--commands', '5000', '--kills', '5']);
  if (code === 0) return;
  if (code !== MISSING)
    throw new Fail('a simulated store or election does otherwise than the real one: see above.');
  const how = `\`sudo apt-get install ${PACKAGES.join(' ')}\` brings them on Debian.`;
  if (canInstall()) throw new Fail(`servers are missing though they were installed: see above. ${how}`);
  console.log(`Not every store is compared here: see above. ${how}`);
}

async function compareStores(args) {
  if (process.platform !== 'linux') {
    console.error('Stores are compared on Linux alone: the real servers are told the time there.');
    return MISSING;
  }
  if (canInstall()) await installSystem(PACKAGES);
  // The profile of the tests: what they built is used, and none of it is built twice.
  const command = [
    'run',
    '--quiet',
    '--profile',
    'test',
    '-p',
    'tenure-stores',
    '--bin',
    'stores',
    '--',
    ...args,
  ];
  const { status } = spawnSync('cargo', command, { cwd: root, stdio: 'inherit' });
  return status ?? 1;
}

if (isEntry(import.meta.url)) {
  await main(async (args) => {
    process.exitCode = await compareStores(args);
  });
}

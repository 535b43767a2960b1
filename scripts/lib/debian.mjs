// System packages, installed where that may be done unasked: as root on Debian and its kin.
import { readFileSync } from 'node:fs';
import { ask, Fail, run } from './run.mjs';

const ENV = { DEBIAN_FRONTEND: 'noninteractive' };
// Another installation may be under way on a machine that has just started. Progress bars are noise in a log.
const OPTIONS = ['-o', 'DPkg::Lock::Timeout=120', '-o', 'Dpkg::Use-Pty=0'];

let listsAreFresh = false;

/** Whether packages can be installed without asking anybody. */
export function canInstall() {
  return process.getuid?.() === 0 && isDebian() && ask('apt-get', ['--version']) !== null;
}

/** Installs those of the packages that are missing. */
export async function installSystem(packages) {
  const missing = packages.filter((name) => !isInstalled(name));
  if (missing.length === 0) return;
  if (!listsAreFresh) await run('apt-get', ['update', '-qq'], { env: ENV });
  listsAreFresh = true;
  try {
    await run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...OPTIONS, ...missing], {
      env: ENV,
    });
  } catch {
    throw new Fail(`The system packages ${missing.join(', ')} cannot be installed here.`);
  }
}

/** Whether a system package is there, whole. */
export function isInstalled(name) {
  return /^Status: install ok installed$/m.test(ask('dpkg', ['-s', name]) ?? '');
}

function isDebian() {
  try {
    const release = readFileSync('/etc/os-release', 'utf8');
    return /^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m.test(release);
  } catch {
    return false;
  }
}

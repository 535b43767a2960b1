// Which Rust toolchain compiles for a target that is not this machine.
//
// Three ways, in this order: the target is there; rustup adds it; Debian's packages build it. WASM_TOOLCHAIN=debian
// goes straight to the third, for machines that reach Debian's packages alone.
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { canInstall, installSystem, isInstalled } from './debian.mjs';
import { ask, Fail, root, run } from './run.mjs';

export const WASM = 'wasm32-unknown-unknown';
export const BARE = 'thumbv7em-none-eabi';

const PACKAGES = ['rustc-web', 'cargo-web', 'rust-web-src', 'rust-web-llvm'];
// A link to the linker of the LLVM that the compiler was built with, which is a package of that name.
const LINKER = '/usr/bin/rust-lld';
// A default toolchain from elsewhere, put before Debian's on PATH, would lend its compiler to Debian's cargo.
const DEBIAN = { PATH: `/usr/bin:${process.env.PATH}` };
// Compiling the standard library is an unstable option of cargo; to be used for nothing but that.
const BUILD_STD = { ...DEBIAN, RUSTC_BOOTSTRAP: '1' };

/** Refuses a machine without Rust, or with one that is too old. */
export function checkRust() {
  const least = readFileSync(join(root, 'Cargo.toml'), 'utf8').match(/^rust-version = "(\d+\.\d+)"/m)[1];
  // rustup fetches the toolchain of this folder when it is first asked, and says so on its error output.
  const found = ask('cargo', ['--version'], { stderr: 'inherit' })?.match(/(\d+)\.(\d+)/);
  if (!found) {
    throw new Fail(
      'Rust is missing: install it with rustup (https://rustup.rs), open a new terminal and run this again. If rustup ' +
        'is there, `rustup toolchain install` in this folder installs the version that rust-toolchain.toml names.',
    );
  }
  const [major, minor] = least.split('.').map(Number);
  if (Number(found[1]) < major || (Number(found[1]) === major && Number(found[2]) < minor)) {
    throw new Fail(`Rust ${found[0]} is too old: ${least} or newer is needed (\`rustup update\`).`);
  }
}

/**
 * The toolchain that compiles for the browser: the program to run, its environment, the compiler's flags, and an id that
 * changes when its output may.
 */
export async function wasmToolchain() {
  if (!debianForced()) {
    if (hasTarget(WASM) || (await addTarget(WASM))) {
      return {
        label: 'rustup',
        cargo: 'cargo',
        env: {},
        flags: [],
        id: `rustup ${digest(ask('rustc', ['-vV']))}`,
      };
    }
  }
  if (debianReady() || canInstall()) {
    const id = await debianCompiler();
    const sysroot = await wasmSysroot(id);
    return {
      label: "Debian's rustc",
      cargo: '/usr/bin/cargo',
      env: DEBIAN,
      flags: [`--sysroot=${sysroot}`],
      id: `debian ${id}`,
    };
  }
  throw new Fail(missing(WASM, 'the browser'));
}

/** Compiles the core where there is no operating system: a use of std cannot pass. */
export async function buildBare() {
  const args = [
    'build',
    '-p',
    'tenure',
    '--no-default-features',
    '--profile',
    'tool',
    '--target-dir',
    'target/bare',
  ];
  const withRustup = () => run('cargo', [...args, '--target', BARE]);
  if (!debianForced() && hasTarget(BARE)) return withRustup();
  // Debian's compiler builds its own core and alloc, without a download.
  if (!debianReady() && !debianForced() && (await addTarget(BARE))) return withRustup();
  if (debianReady() || canInstall()) {
    await debianCompiler();
    return run('/usr/bin/cargo', [...args, '--target', BARE, '-Zbuild-std=core,alloc'], { env: BUILD_STD });
  }
  throw new Fail(missing(BARE, 'a machine without an operating system'));
}

/** Compiler flags as an environment for cargo; they may hold spaces, as a home folder does. */
export function encodedFlags(flags) {
  return { CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f') };
}

function debianForced() {
  const asked = process.env.WASM_TOOLCHAIN ?? 'auto';
  if (!['auto', 'debian'].includes(asked)) {
    throw new Fail(
      `WASM_TOOLCHAIN is ${JSON.stringify(asked)}: set it to "debian", or to "auto" or not at all.`,
    );
  }
  return asked === 'debian';
}

/** Whether the compiler that is first on PATH compiles for a target. */
export function hasTarget(target) {
  const folder = ask('rustc', ['--print', 'target-libdir', '--target', target]);
  return (
    folder !== null && existsSync(folder) && readdirSync(folder).some((name) => name.startsWith('libcore-'))
  );
}

async function addTarget(target) {
  if (ask('rustup', ['--version']) === null) return false;
  try {
    await run('rustup', ['target', 'add', target]);
    return hasTarget(target);
  } catch {
    console.log(`rustup cannot add ${target} here`);
    return false;
  }
}

function debianReady() {
  return PACKAGES.every(isInstalled) && existsSync(LINKER);
}

function missing(target, place) {
  return (
    `The Rust target for ${place} is missing: run \`rustup target add ${target}\`, or, on Debian 12, ` +
    `\`sudo apt-get install ${[...PACKAGES, linkerPackage()].join(' ')}\`.`
  );
}

function linkerPackage() {
  try {
    return readlinkSync(LINKER);
  } catch {
    return 'lld-22';
  }
}

/** Installs Debian's compiler where it is missing; its version. */
async function debianCompiler() {
  if (canInstall()) {
    await installSystem(PACKAGES);
    await installSystem([linkerPackage()]);
  }
  const version = ask('/usr/bin/rustc', ['-vV']);
  const release = version?.match(/^release: (.*)$/m)?.[1];
  const commit = version?.match(/^commit-hash: (.{9})/m)?.[1];
  if (!release) throw new Fail("Debian's Rust compiler does not run: reinstall the package rustc-web.");
  return `${release}-${commit ?? 'unknown'}`;
}

/**
 * The standard library for the browser, compiled once from Debian's source into the user's cache. A compilation that is
 * under way may be reading the one that is there, so it appears whole, by a rename, and never changes.
 */
async function wasmSysroot(id) {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tenure');
  const sysroot = join(cache, `wasm-sysroot-${id}`);
  if (existsSync(sysroot)) return sysroot;
  console.log('Building the standard library for the browser, once (under a minute)');
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'building-'));
  try {
    mkdirSync(join(work, 'src'));
    writeFileSync(join(work, 'src/lib.rs'), '#![no_std]\n');
    writeFileSync(
      join(work, 'Cargo.toml'),
      '[package]\nname = "sysroot"\nversion = "0.0.0"\nedition = "2024"\n\n[profile.release]\npanic = "abort"\n\n[workspace]\n',
    );
    const args = [
      'build',
      '-q',
      '--release',
      '--target',
      WASM,
      '-Zbuild-std=std,panic_abort',
      '--target-dir',
      'target',
    ];
    // Link-time optimisation reads the bitcode, which a plain release build of a library leaves out.
    await run('/usr/bin/cargo', args, {
      cwd: work,
      env: { ...BUILD_STD, ...encodedFlags(['-Cembed-bitcode=yes']) },
    });
    const from = join(work, 'target', WASM, 'release/deps');
    const to = join(work, 'sysroot/lib/rustlib', WASM, 'lib');
    mkdirSync(to, { recursive: true });
    for (const name of readdirSync(from)) {
      if (name.endsWith('.rlib') && !/^lib(sysroot|proc_macro)-/.test(name)) {
        copyFileSync(join(from, name), join(to, name));
      }
    }
    publish(join(work, 'sysroot'), sysroot);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return sysroot;
}

// Of two builds at the same time, the first one to end is kept.
function publish(from, to) {
  try {
    renameSync(from, to);
  } catch (error) {
    if (!existsSync(to)) throw error;
  }
}

function digest(text) {
  return createHash('sha256')
    .update(text ?? '')
    .digest('hex')
    .slice(0, 16);
}

// The browser that the tests drive.
import { existsSync } from 'node:fs';
import { canInstall, installSystem } from './debian.mjs';
import { ask, Fail } from './run.mjs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/** Finds Chromium, installing it where that may be done unasked, and names it to the tests as $CHROMIUM. */
export async function provideChromium() {
  const named = process.env.CHROMIUM;
  if (named && !existsSync(named))
    throw new Fail(`CHROMIUM names ${named}, where nothing is: correct or unset it.`);
  let path = named || PLACES.find(existsSync);
  if (!path && canInstall()) {
    await installSystem(['chromium']);
    path = PLACES.find(existsSync);
  }
  if (!path) {
    throw new Fail(
      'The browser tests need Chromium: run `sudo apt-get install chromium`, or install Chrome and set CHROMIUM to its path.',
    );
  }
  process.env.CHROMIUM = path;
  console.log(`${ask(path, ['--version']) ?? 'a browser'} at ${path}`);
}

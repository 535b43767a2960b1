/** Where Chromium is, and how it is started: quiet, and without a network of its own. */
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

export const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

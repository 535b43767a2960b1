// Time for a machine: whole microseconds that never run back, and that count the computer's sleep.
import { uptime } from 'node:os';

/** How far behind the clock `now` may be, in microseconds; for `timing.grain`. */
export const GRAIN = 10_000;

// How long the computer slept since it was started.
let slept = 0;

/**
 * On Linux neither `performance.now()` nor `process.hrtime()` counts the time that the computer sleeps: a leader would wake up
 * with a lease that did not age, and believe beside its successor until it hears of it. The system's uptime does count it,
 * in hundredths of a second. So the one measures and the other corrects it, and the machine is told the grain, by which
 * its lease is shorter. On other systems this was not tried: where the clock stands still during sleep, only the fencing
 * token stops a leader that slept.
 */
export function now() {
  const running = Number(process.hrtime.bigint() / 1_000n);
  if (process.platform === 'linux') slept = Math.max(slept, Math.floor(uptime() * 1e6) - running);
  return running + slept;
}

/** Time is whole microseconds of virtual time everywhere; these write it for people and read it back. */

/** `1.234567` seconds with all digits, for the clock. */
export function clockText(us: number): { seconds: string; micros: string } {
  const whole = Math.max(0, Math.round(us));
  const text = (whole / 1_000_000).toFixed(6);
  return { seconds: text.slice(0, -3), micros: text.slice(-3) };
}

/** A point in time, to the millisecond: `1.234 s`. */
export function instantText(us: number): string {
  return `${(us / 1_000_000).toFixed(3)} s`;
}

/** A length of time with a fitting unit: `850 µs`, `12.5 ms`, `3.4 s`. */
export function spanText(us: number): string {
  const size = Math.abs(us);
  if (size < 1000) return `${Math.round(us)} µs`;
  if (size < 100_000) return `${trim(us / 1000, 1)} ms`;
  if (size < 1_000_000) return `${Math.round(us / 1000)} ms`;
  return `${trim(us / 1_000_000, 2)} s`;
}

function trim(value: number, digits: number): string {
  return value.toFixed(digits).replace(/\.?0+$/, '');
}

/** The units of scenario files, the largest first. */
const UNITS = { h: 3_600_000_000n, min: 60_000_000n, s: 1_000_000n, ms: 1000n, us: 1n };
type Unit = keyof typeof UNITS;

/**
 * Microseconds of a duration as scenario files write it (`"150ms"`), by the engine's grammar and as exactly: null when
 * it is none, has a part of a microsecond, or is too long for a number.
 */
export function parseDuration(text: string): number | null {
  const match = /^(\d+)(?:\.(\d+))?(us|ms|s|min|h)$/.exec(text);
  if (!match) return null;
  const [, whole, fraction = '', unit] = match;
  // All digits as one whole number of the unit's tenths, hundredths and so on.
  const scaled = BigInt(whole + fraction) * UNITS[unit as Unit];
  const parts = 10n ** BigInt(fraction.length);
  const us = Number(scaled / parts);
  return scaled % parts === 0n && Number.isSafeInteger(us) ? us : null;
}

/** A duration as scenario files write it, in the largest unit that keeps it whole. */
export function writeDuration(us: number): string {
  if (us === 0) return '0ms';
  const exact = BigInt(us);
  const [unit, size] = Object.entries(UNITS).find(([, size]) => exact % size === 0n)!;
  return `${exact / size}${unit}`;
}

/** Tick distance for an axis that shows `span` in `room` pixels, one label per `gap` pixels or so. */
export function tickStep(span: number, room: number, gap: number): number {
  const least = (span / Math.max(1, room)) * gap;
  let power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  for (const factor of [1, 2, 5, 10]) {
    if (power * factor >= least) return Math.max(1, power * factor);
  }
  power *= 10;
  return power;
}

/** The shown end of the history: steps up as the run grows so that the scrubber does not creep. */
export function historyExtent(horizon: number, duration: number): number {
  for (const seconds of [2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600]) {
    const extent = seconds * 1_000_000;
    if (extent >= duration) return duration;
    if (horizon <= extent * 0.9) return extent;
  }
  return duration;
}

import { describe, expect, it } from 'vitest';
import { contrast, customProperties, DARK, HUES, hueOf, inkOn, LIGHT, linear, termColour } from './palette';

type Triple = [number, number, number];

/** Simulated colour vision at full severity (Machado, Oliveira and Fernandes 2009), on linear light. */
const VISION: Record<string, Triple[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function oklab([r, g, b]: Triple): Triple {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function distance(a: string, b: string, vision: Triple[]): number {
  const see = (colour: string) => {
    const light = linear(colour);
    const seen = vision.map((row) =>
      Math.min(1, Math.max(0, row[0] * light[0] + row[1] * light[1] + row[2] * light[2])),
    );
    return oklab(seen as Triple);
  };
  const [x, y] = [see(a), see(b)];
  return Math.hypot(x[0] - y[0], x[1] - y[1], x[2] - y[2]);
}

for (const [name, theme] of Object.entries({ light: LIGHT, dark: DARK })) {
  describe(`${name} theme`, () => {
    it('keeps any two terms apart for every kind of colour vision', () => {
      for (const [kind, vision] of Object.entries(VISION)) {
        for (let i = 0; i < HUES; i += 1) {
          for (let j = i + 1; j < HUES; j += 1) {
            const apart = distance(theme.terms[i], theme.terms[j], vision);
            expect(apart, `${kind}: terms ${i + 1} and ${j + 1}`).toBeGreaterThan(0.08);
          }
        }
      }
    });

    it('keeps red for violations: no term looks like it', () => {
      for (const colour of theme.terms) {
        expect(distance(colour, theme.red, VISION.normal)).toBeGreaterThan(0.12);
      }
    });

    it('has readable text and visible marks', () => {
      for (const text of [theme.ink, theme.soft, theme.faint, theme.red]) {
        for (const ground of [theme.bg, theme.raised, theme.wash]) {
          expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5);
        }
      }
      for (const mark of [...theme.terms, theme.edge, theme.focus]) {
        expect(contrast(mark, theme.bg)).toBeGreaterThanOrEqual(3);
      }
      for (const colour of theme.terms) expect(contrast(colour, inkOn(colour))).toBeGreaterThanOrEqual(4.5);
    });
  });
}

describe('terms', () => {
  it('take the hues in turn, and term 0 takes none', () => {
    expect([0, 1, 8, 9].map(hueOf)).toEqual([-1, 0, 7, 0]);
    expect(termColour(LIGHT, 0)).toBe(LIGHT.edge);
    expect(termColour(LIGHT, 10)).toBe(LIGHT.terms[1]);
  });

  it('reach the stylesheet in both themes', () => {
    const names = customProperties().map(([name]) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names).toContain('--term-7');
  });
});

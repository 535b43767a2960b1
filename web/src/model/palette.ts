/**
 * The colours of the page, one place for stylesheet, SVG and canvas.
 *
 * Terms take eight hues in turn. They were chosen by search so that any two stay apart under protanopia, deuteranopia
 * and tritanopia, neighbours most of all, and each stands out from the background. Red is kept for violations.
 */
export interface Theme {
  bg: string;
  raised: string;
  ink: string;
  soft: string;
  faint: string;
  line: string;
  edge: string;
  wash: string;
  focus: string;
  red: string;
  terms: readonly string[];
}

export const LIGHT: Theme = {
  bg: '#fcfbf9',
  raised: '#ffffff',
  ink: '#1c2126',
  soft: '#545c64',
  faint: '#646c74',
  line: '#e6e3de',
  edge: '#8b9198',
  wash: '#f3f1ed',
  focus: '#1f5fd0',
  red: '#c3221b',
  terms: ['#3f58b2', '#cc7f1a', '#045339', '#9676fb', '#556617', '#5598b5', '#861b79', '#9f8272'],
};

export const DARK: Theme = {
  bg: '#121518',
  raised: '#191d21',
  ink: '#e9ebed',
  soft: '#a9b1b8',
  faint: '#89929a',
  line: '#272d32',
  edge: '#6c757d',
  wash: '#1c2125',
  focus: '#8ab4ff',
  red: '#ff6f61',
  terms: ['#7497f8', '#c18921', '#98e7d2', '#885bda', '#d5dd72', '#74c3ef', '#b25783', '#d2aa86'],
};

export const HUES = 8;

/** Which of the eight hues a term takes; term 0 has none (-1). */
export function hueOf(term: number): number {
  return term >= 1 ? (term - 1) % HUES : -1;
}

/** The colour of a term in a theme. */
export function termColour(theme: Theme, term: number): string {
  const hue = hueOf(term);
  return hue < 0 ? theme.edge : theme.terms[hue];
}

/** Black or white, whichever reads better on the colour. */
export function inkOn(colour: string): string {
  return contrast(colour, '#ffffff') >= contrast(colour, '#101214') ? '#ffffff' : '#101214';
}

/** WCAG contrast ratio of two colours. */
export function contrast(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

function luminance(colour: string): number {
  const [r, g, b] = linear(colour);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** Linear-light channels of `#rrggbb`. */
export function linear(colour: string): [number, number, number] {
  const channel = (at: number) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

/** Custom properties for the stylesheet; `light-dark()` picks by the page's colour scheme. */
export function customProperties(): [name: string, value: string][] {
  const plain = ['bg', 'raised', 'ink', 'soft', 'faint', 'line', 'edge', 'wash', 'focus', 'red'] as const;
  const both = (light: string, dark: string) => `light-dark(${light}, ${dark})`;
  return [
    ...plain.map((name): [string, string] => [`--${name}`, both(LIGHT[name], DARK[name])]),
    ...LIGHT.terms.flatMap((colour, i): [string, string][] => [
      [`--term-${i}`, both(colour, DARK.terms[i])],
      [`--on-term-${i}`, both(inkOn(colour), inkOn(DARK.terms[i]))],
    ]),
  ];
}

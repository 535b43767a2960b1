import type { Scheme } from '../model/scenario';

/** What a card says of a scheme, in this order. */
export const QUESTIONS = ['leads', 'next', 'old', 'costs', 'suffices', 'breaks', 'used'] as const;

export type Card = Record<(typeof QUESTIONS)[number], string>;
export type Cards = Record<Scheme, Card>;

import titles from 'virtual:gallery-titles/en';
import { en } from './en';
import { GLOSSARY } from './glossary-en';
import type { Language } from './languages';

/** The words of English: one file, which another language does without. */
export const english: Language = { messages: { ...en }, glossary: GLOSSARY, refusals: {}, titles };

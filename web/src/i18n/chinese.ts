import titles from 'virtual:gallery-titles/zh';
import { GLOSSARY_ZH } from './glossary-zh';
import type { Language } from './languages';
import { REFUSALS_ZH } from './refusals-zh';
import { zh } from './zh';

/** The words of Chinese: one file, loaded when somebody asks for it. */
export const chinese: Language = {
  messages: { ...zh },
  glossary: GLOSSARY_ZH,
  refusals: REFUSALS_ZH,
  titles,
};

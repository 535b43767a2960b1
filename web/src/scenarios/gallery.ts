import type { Scenario } from '../model/scenario';

const files = import.meta.glob<Scenario>('../../../scenarios/*.json', { import: 'default', eager: true });

/** Every scenario of the gallery by its name. */
export const GALLERY: Readonly<Record<string, Scenario>> = Object.fromEntries(
  Object.entries(files).map(([path, scenario]) => [
    path.slice(path.lastIndexOf('/') + 1, -'.json'.length),
    scenario,
  ]),
);

import './app.css';
import { mount } from 'svelte';
import { engineLoader } from './engine/load';
import { Preferences } from './lab/preferences.svelte';
import { customProperties } from './model/palette';
import App from './views/App.svelte';

for (const [name, value] of customProperties()) document.documentElement.style.setProperty(name, value);

const prefs = new Preferences(storage(), navigator.languages);
prefs.watch((query) => window.matchMedia(query));
prefs.apply(document);

mount(App, {
  target: document.getElementById('app')!,
  props: { prefs, instantiate: engineLoader() },
});

/** Some browsers throw at the mere mention when storage is barred. */
function storage(): Storage | null {
  try {
    return window.localStorage;
  } catch {
    return null;
  }
}

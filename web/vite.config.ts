import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { minify, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The glue of a WASM module is loaded by its address, so that a trap can be followed by a new instance. */
function minifyGlue(): Plugin {
  return {
    name: 'minify-glue',
    apply: 'build',
    async generateBundle(_, bundle) {
      for (const asset of Object.values(bundle)) {
        if (asset.type !== 'asset' || !/tenure_\w+-.*\.js$/.test(asset.fileName)) continue;
        asset.source = (await minify(asset.fileName, String(asset.source))).code;
      }
    },
  };
}

const TITLES = /^virtual:gallery-titles\/(en|zh)$/;

/** The names of the gallery's scenarios are needed with the words of a language, the rest of them is not. */
function galleryTitles(): Plugin {
  const gallery = new URL('../scenarios/', import.meta.url);
  return {
    name: 'gallery-titles',
    resolveId: (id) => (TITLES.test(id) ? `\0${id}` : null),
    load(id) {
      const lang = TITLES.exec(id.slice(1))?.[1];
      if (!lang) return null;
      const files = readdirSync(gallery).filter((file) => file.endsWith('.json'));
      const titles = files.map((file) => {
        this.addWatchFile(fileURLToPath(new URL(file, gallery)));
        return [
          file.slice(0, -'.json'.length),
          JSON.parse(readFileSync(new URL(file, gallery), 'utf8')).title[lang],
        ];
      });
      return `export default ${JSON.stringify(Object.fromEntries(titles))};`;
    },
  };
}

// Relative base: the built folder works under any path of any static host.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [
    minifyGlue(),
    galleryTitles(),
    svelte({
      // Unit tests run state as the browser does; the server's flavour has no reactivity.
      dynamicCompileOptions: () => (process.env.VITEST ? { generate: 'client' } : undefined),
    }),
  ],
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    // Browsers that know light-dark() in CSS, popovers and CompressionStream('deflate-raw').
    target: ['chrome123', 'firefox125', 'safari17.5'],
    assetsInlineLimit: 0,
    // Browsers that know modulepreload.
    modulePreload: { polyfill: false },
  },
  test: {
    include: ['src/**/*.test.ts'],
    environment: 'node',
    setupFiles: ['src/testing/words.ts'],
    // Some run whole simulations, on a machine that may be busy with others.
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});

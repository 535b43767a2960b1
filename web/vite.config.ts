import { svelte } from '@sveltejs/vite-plugin-svelte';
import { minify, type Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

/** The glue of the WASM module is loaded by its address, so that a trap can be followed by a new instance. */
function minifyGlue(): Plugin {
  return {
    name: 'minify-glue',
    apply: 'build',
    async generateBundle(_, bundle) {
      for (const asset of Object.values(bundle)) {
        if (asset.type !== 'asset' || !/tenure_wasm-.*\.js$/.test(asset.fileName)) continue;
        asset.source = (await minify(asset.fileName, String(asset.source))).code;
      }
    },
  };
}

// Relative base: the built folder works under any path of any static host.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [
    minifyGlue(),
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
  },
  test: {
    include: ['src/**/*.test.ts'],
    environment: 'node',
  },
});

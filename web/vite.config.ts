import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';

// Relative base: the built folder works under any path of any static host.
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  plugins: [
    svelte({
      // Unit tests run state as the browser does; the server's flavour has no reactivity.
      dynamicCompileOptions: () => (process.env.VITEST ? { generate: 'client' } : undefined),
    }),
  ],
  resolve: process.env.VITEST ? { conditions: ['browser'] } : undefined,
  build: {
    outDir: '../dist',
    emptyOutDir: true,
    // Browsers that know light-dark() in CSS and CompressionStream('deflate-raw').
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
  },
  test: {
    include: ['src/**/*.test.ts'],
    environment: 'node',
  },
});

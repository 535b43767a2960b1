// Tests that cross the rooms (tests/): those of the page alone are set up in web/.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    environment: 'node',
    // A browser starts, opens a page and runs whole simulations in it: one file at a time, and with patience.
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

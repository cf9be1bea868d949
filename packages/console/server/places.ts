// What the store's thread loads, and where the built page lies. The build puts most other modules together; this one
// stays where it finds both.

import { fileURLToPath } from 'node:url'

/** Language of the modules: as they are written, or as they are published. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

/** Program of the store's thread. */
export const STORE_MODULE: URL = new URL(`./store/worker/main${EXTENSION}`, import.meta.url)

/** Where the built page may lie: beside what was built, or in the package's `dist` while developing. */
export const PAGE_DIRS: readonly string[] = ['../web/', '../dist/web/'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
)

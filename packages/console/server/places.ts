// Paths of the store's thread and of the built page. The build bundles most other modules; this module stays separate,
// so that the relative paths stay right.

import { fileURLToPath } from 'node:url'

/** Extension of the modules: TypeScript in a checkout, JavaScript when published. */
const EXTENSION = import.meta.url.endsWith('.ts') ? '.ts' : '.js'

/** Entry module of the store's thread. */
export const STORE_MODULE: URL = new URL(`./store/worker/main${EXTENSION}`, import.meta.url)

/** Possible folders of the built page: beside the built code, or `dist` of the package in a checkout. */
export const PAGE_DIRS: readonly string[] = ['../web/', '../dist/web/'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
)

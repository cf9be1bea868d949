import { readFileSync } from 'node:fs'

const { version, gitHead = '' } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** Version of this package, from its package.json: one place to change it. */
export const VERSION: string = version
/** Commit that the published package was built from; empty in a checkout. */
export const REVISION: string = gitHead

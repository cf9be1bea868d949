import { readFileSync } from 'node:fs'

const { version, gitHead = '' } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** Version of this package, from its package.json. */
export const VERSION: string = version
/** Commit of the published package; empty in a checkout. */
export const REVISION: string = gitHead

import { SondeError } from './errors.ts'

// The first import of every entry. An older Node loads all modules and then fails in the midst of some, such as when a
// file is written.

/** The oldest Node that works, as `engines` of the manifest says. */
const OLDEST = { major: 22, minor: 18 }

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
  throw new SondeError(
    'SDK_NODE',
    `@sonde/sdk needs Node ${OLDEST.major}.${OLDEST.minor} or newer, and this is ${process.versions.node}; run it with a newer Node`,
  )
}

// `npm test [-- PATTERN…] [-t NAME] [--quick]`: all tests, tests with a pattern in their path, tests with NAME in their
// name, or tests beside the code.

import { randomInt } from 'node:crypto'
import { globSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { installDebianPackages } from './debian.ts'
import { isGood, runTestFiles, summaryOf } from './test-files.ts'
import { setUpTests } from './test-setup.ts'

/** Where all tests are. */
const ALL = '{packages,test,scripts,bench,examples}/**/*.test.ts'
/** Where tests are that start no browser, and few processes. */
const QUICK = '{packages,test/house}/**/*.test.ts'
/**
 * Tests among them that start whole agents, children, services and stores, or simulate hours. Each file has a process
 * of its own. The files of a room that are not here share a process, because they take less time than its start.
 */
const LONG = new RegExp(
  [
    'agent/src/hints/([^/]+|rules/(rules|measured))\\.test',
    'agent/src/hosting/(hosts?|shared-library)\\.test',
    'agent/src/http/',
    'agent/src/pods/pod-churn',
    'agent/src/service/(churn|directory|fuzz|service)\\.test',
    // The test that is named like the folder of its source damages every file that the source reads.
    'agent/src/sources/(?<source>[^/]+)/\\k<source>\\.test',
    'agent/src/sources/(doca/(crashes|errors|explain|hangs)|scraping/|simulator/observe/invariants)',
    'agent/src/(pipeline/recent|traceback/(attacks|watching/clients))',
    'cli/src/commands/app-',
    'console/server/store/',
    'sdk/src/sinks/(files/files|ipc/)',
  ].join('|'),
)
/** Browser tests whose files share a process, with its browser and the stages that they only look at. */
const TOGETHER = [
  ['address', 'events', 'keyboard', 'pages', 'states'],
  ['device-pages', 'devices', 'waiting'],
  ['explain', 'explorer', 'fabric', 'nic'],
  ['exporters', 'foreign-page', 'hostile-texts', 'real-event', 'sources', 'traffic'],
].map((names) => new RegExp(`^test/browser/(${names.join('|')})\\.test\\.ts$`))
/** Folders whose files share a process by fours, because its start takes as long as some of them. */
const BY_FOURS = /^test\/(alerts|chart|dashboards|dtb|hints|interop|process|recipe|regression|traceback)\//
/** How many folders of a path name a room: `packages/agent/src/rules`. */
const ROOM_DEPTH = 4
/** The longest tests start first, so that no long test is left at the end. */
const FIRST = ['test/browser/hints', 'test/faults/', 'test/browser/pages', 'test/pack/', 'test/browser/', 'test/']

const root = join(import.meta.dirname, '..')
const { values, positionals } = parseArgs({
  options: { name: { type: 'string', short: 't' }, quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})

if (process.env.SONDE_SEED === 'random') {
  process.env.SONDE_SEED = String(randomInt(2 ** 31))
  console.log(`SONDE_SEED=${process.env.SONDE_SEED}`)
}

if (!values.quick) installDebianPackages()

const files = globSync(values.quick ? QUICK : ALL, {
  cwd: root,
  exclude: (path) => /(^|\/)(node_modules|dist)(\/|$)/.test(path),
})
  .filter((file) => !values.quick || !LONG.test(file))
  .filter((file) => positionals.length === 0 || positionals.some((pattern) => file.includes(pattern)))
  .sort((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))
const hasPage = await setUpTests(files)
if (files.length === 0) console.log(`No test file has ${positionals.join(' or ')} in its path`)

/**
 * What is run in one process: the files of a room that only compute, browser tests of one kind, four files of a folder,
 * or one file.
 */
function groupOf(file: string): string {
  if (BY_FOURS.test(file)) {
    const folder = files.filter((each) => dirname(each) === dirname(file))
    return `${dirname(file)} ${Math.floor(folder.indexOf(file) / 4)}`
  }
  const together = TOGETHER.find((files) => files.test(file))
  if (together !== undefined) return together.source
  return file.startsWith('packages/') && !LONG.test(file) ? file.split('/').slice(0, ROOM_DEPTH).join('/') : file
}

function rankOf(file: string): number {
  const rank = FIRST.findIndex((start) => file.startsWith(start))
  return rank < 0 ? FIRST.length : rank
}

const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())

const groups = Object.values(Object.groupBy(files, groupOf)).map((group = []) => group.map((file) => join(root, file)))
const outcome = await runTestFiles(groups, {
  root,
  signal: interrupted.signal,
  ...(values.name === undefined ? {} : { name: values.name }),
})
// Without the page the tests that do not look at it still ran; the run has failed all the same.
if (!hasPage) {
  console.log('\n  ✗ the web page could not be built')
  outcome.failed += 1
}
console.log(`\n${summaryOf(outcome)}`)
process.exitCode = !interrupted.signal.aborted && isGood(outcome, { ci: process.env.CI === 'true' }) ? 0 : 1

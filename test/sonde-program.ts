import { fileURLToPath } from 'node:url'

/**
 * The module that runs the command: its sources, or the program that `npm test` has put them into, which starts in half
 * the time.
 */
export const SONDE_MAIN: string =
  process.env.SONDE_TEST_MAIN ?? fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))

/** The children of the command, too, find their modules compiled; `npm test` sets the variable. */
const CACHE = process.env.NODE_COMPILE_CACHE
  ? [`--import=${new URL('../scripts/compile-cache.mjs', import.meta.url)}`]
  : []

/** Children of the command inherit this argument, by which the test runner finds those that hang and ends them. */
const MARK = process.env.SONDE_TEST_PROCESS_ID ? [`--conditions=${process.env.SONDE_TEST_PROCESS_ID}`] : []

/** Program and arguments that start the command in a process of its own; its own arguments follow. */
export const SONDE: readonly [string, ...string[]] = [
  process.execPath,
  '--conditions=source',
  '--disable-warning=ExperimentalWarning',
  ...CACHE,
  ...MARK,
  SONDE_MAIN,
]

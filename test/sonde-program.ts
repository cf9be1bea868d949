import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/**
 * The module that runs the command: its sources, or the program that `npm test` has put them into, which starts in half
 * the time.
 */
export const SONDE_MAIN: string =
  process.env.SONDE_TEST_MAIN ?? fileURLToPath(new URL('../packages/cli/src/main.ts', import.meta.url))

/** The built form of a program of a test, if `npm test` has made one. */
export function builtForm(main: string): string {
  const { SONDE_TEST_MAIN } = process.env
  if (SONDE_TEST_MAIN === undefined) return main
  const path = relative(ROOT, main).replace(/\.ts$/, '.js')
  const built = join(dirname(SONDE_TEST_MAIN), '../agents', path)
  return existsSync(built) ? built : main
}

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

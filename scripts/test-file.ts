// Runs one test file in a process of its own and counts what its tests did.

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { run } from 'node:test'
import { inspect } from 'node:util'

/** How many tests ended how. A test that has tests inside is not counted itself, unless it fails by itself. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** What came of one file. */
export interface FileResult extends Counts {
  file: string
  durationMs: number
  /** Every failure in full, as text. */
  failures: string[]
  /** Names of the tests that were skipped, with their reasons. */
  skips: string[]
  /** What tests said through `t.diagnostic()`, such as the seed of a run. */
  notes: string[]
  /** What the file printed. */
  output: string
}

/** How to run a file. */
export interface FileOptions {
  /** Only the tests whose name contains this. Default: all. */
  name?: string
  /** A file that runs longer is ended and has failed. */
  timeLimitMs: number
  /** Ends the file early. */
  signal: AbortSignal
}

/** The shape of the events of node:test that is used here. */
interface Outcome {
  name: string
  file?: string
  nesting: number
  skip?: string | boolean
  todo?: string | boolean
  details: { type?: string; error?: { failureType?: string; cause?: unknown } }
}

/** Flags of Node for a test file. */
const FLAGS = [
  '--conditions=source',
  '--disable-warning=ExperimentalWarning',
  `--import=${new URL('compile-cache.mjs', import.meta.url)}`,
]

/** What all processes of a file inherit, so that they are found when the file has ended. */
const MARK = 'SONDE_TEST_FILE_ID'

/** Runs one test file, and ends whatever processes it left. */
export async function runTestFile(file: string, options: FileOptions): Promise<FileResult> {
  const started = performance.now()
  const counter = createCounter(file, { mayBeEmpty: options.name !== undefined })
  const mark = randomUUID()
  const stream = run({
    files: [file],
    execArgv: FLAGS,
    env: { ...process.env, [MARK]: mark },
    signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.timeLimitMs)]),
    ...(options.name === undefined ? {} : { testNamePatterns: [options.name] }),
  })
  for await (const { type, data } of stream) {
    if (type === 'test:pass' || type === 'test:fail') counter.add(type, data)
    else if (type === 'test:dequeue') counter.running.add(data.name)
    else if (type === 'test:complete') counter.running.delete(data.name)
    // Node's own totals are diagnostics too; they come without a file.
    else if (type === 'test:diagnostic' && data.file !== undefined) counter.result.notes.push(data.message)
    else if (type === 'test:stdout' || type === 'test:stderr') counter.result.output += data.message
  }
  endProcessesOf(mark)
  return { ...counter.result, durationMs: performance.now() - started }
}

/**
 * A file that came to its limit ran none of its own clean-up. Groups do not help: some tests start groups of their own.
 */
function endProcessesOf(mark: string): void {
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (readFileSync(`/proc/${id}/environ`, 'utf8').includes(`${MARK}=${mark}`)) process.kill(Number(id), 'SIGKILL')
    } catch {
      // It has ended meanwhile, or belongs to another user.
    }
  }
}

function createCounter(file: string, { mayBeEmpty }: { mayBeEmpty: boolean }) {
  const result: FileResult = {
    file,
    passed: 0,
    failed: 0,
    skipped: 0,
    durationMs: 0,
    failures: [],
    skips: [],
    notes: [],
    output: '',
  }
  const running = new Set<string>()
  /** The names of the tests around the current one are not known before they end, so its children wait here. */
  const childCounts: number[] = []

  function fail(name: string, reason: unknown): void {
    result.failed += 1
    result.failures.push(`${name}\n${typeof reason === 'string' ? reason : inspect(reason)}`)
  }

  function add(type: 'test:pass' | 'test:fail', test: Outcome): void {
    const hasChildren = (childCounts[test.nesting + 1] ?? 0) > 0
    childCounts.length = test.nesting + 1
    childCounts[test.nesting] = (childCounts[test.nesting] ?? 0) + 1
    const isFile = test.name === file
    if (type === 'test:fail') {
      const failureType = test.details.error?.failureType
      if (failureType === 'subtestsFailed') return
      if (failureType === 'testAborted') fail(`${test.name} was ended`, `while running: ${[...running].join(', ')}`)
      else if (isFile) fail(test.name, 'the file itself failed; what it printed is above')
      else fail(test.name, test.details.error?.cause ?? test.details.error)
    } else if (test.skip !== undefined || test.todo !== undefined) {
      result.skipped += 1
      result.skips.push(
        `${test.name}: ${[test.skip, test.todo].find((text) => typeof text === 'string') ?? 'no reason given'}`,
      )
    } else if (isFile) {
      if (!mayBeEmpty) fail(test.name, 'the file holds no test')
    } else if (!hasChildren && test.details.type !== 'suite') {
      result.passed += 1
    }
  }
  return { result, running, add }
}

// Runs test files in a process of their own.

import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { run } from 'node:test'
import { fileURLToPath } from 'node:url'
import { type FileResult, TestResults } from './test-results.ts'

/** How to run files. */
export interface ProcessOptions {
  /** Only the tests whose name contains this. Default: all. */
  name?: string
  /** Time for each file. If a file takes longer, its process is ended, and the file has failed. */
  timeLimitMs: number
  /** Ends the process early. */
  signal: AbortSignal
  /** Called when a file has ended. */
  onFile: (result: FileResult) => void
}

/** What the process runs. */
const SUITES = fileURLToPath(new URL('test-suites.mjs', import.meta.url))
/** Flags of Node for a process of tests. */
const FLAGS = [
  '--conditions=source',
  '--disable-warning=ExperimentalWarning',
  `--import=${new URL('compile-cache.mjs', import.meta.url)}`,
]

/**
 * What all processes that tests start inherit, so that they are found when the tests have ended. Processes in which
 * sources run inherit few variables, but all arguments of Node: for them the mark is a condition too, which no package
 * has.
 */
const MARK = 'SONDE_TEST_PROCESS_ID'

/** Runs test files one after the other in a process of their own, and ends whatever processes they left. */
export async function runTestProcess(files: readonly string[], options: ProcessOptions): Promise<void> {
  const late = new AbortController()
  const limit = setTimeout(() => late.abort(), options.timeLimitMs)
  const onFile = (result: FileResult): void => {
    limit.refresh()
    options.onFile(result)
  }
  const results = new TestResults(files, { mayBeEmpty: options.name !== undefined, onFile })
  const mark = randomUUID()
  const stream = run({
    files: [SUITES],
    execArgv: [...FLAGS, `--conditions=${mark}`],
    env: { ...process.env, [MARK]: mark, SONDE_TEST_FILES: JSON.stringify(files) },
    signal: AbortSignal.any([options.signal, late.signal]),
    ...(options.name === undefined ? {} : { testNamePatterns: [options.name] }),
  })
  for await (const { type, data } of stream) {
    if (type === 'test:pass') results.pass(data)
    else if (type === 'test:fail') results.fail(data)
    else if (type === 'test:dequeue') results.running.add(data.name)
    else if (type === 'test:complete') results.running.delete(data.name)
    // Node's own totals are diagnostics too; they come without a file.
    else if (type === 'test:diagnostic' && data.file !== undefined) results.note(data.message)
    else if (type === 'test:stdout' || type === 'test:stderr') results.print(data.message)
  }
  clearTimeout(limit)
  results.close()
  endProcessesOf(mark)
}

/**
 * Tests that came to their limit did not clean up. Groups do not help: some tests start groups of their own.
 */
function endProcessesOf(mark: string): void {
  for (const id of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const isMarked = ['environ', 'cmdline'].some((file) => readFileSync(`/proc/${id}/${file}`, 'utf8').includes(mark))
      if (isMarked) process.kill(Number(id), 'SIGKILL')
    } catch {
      // It has ended meanwhile, or belongs to another user.
    }
  }
}

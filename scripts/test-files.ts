// Runs groups of test files side by side and prints one line for each, the failures in full, and the counts.

import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { FLAKY_LIMIT_FILES, runAgain } from './test-again.ts'
import { runTestProcess } from './test-process.ts'
import type { Counts, FileResult } from './test-results.ts'

/** How to run the files. */
export interface RunOptions {
  /** The folder that printed paths start from. */
  root: string
  /** Only the tests whose name contains this. Default: all. */
  name?: string
  /** Processes at a time. Default: two more than there are processors, because tests wait a lot. */
  concurrency?: number
  /** Time for each file. If a file takes longer, its process is ended, and the file has failed. Default: 600 000. */
  timeLimitMs?: number
  /** Ends the whole run early. Default: never. */
  signal?: AbortSignal
}

/** The counts of a run. */
export interface RunOutcome extends Counts {
  /** Files that failed, and passed when they ran again alone. Their counts are those of the last run. */
  flaky: string[]
}

/**
 * Runs files, one process a group, prints each result, and returns the counts of all. All processes except one take
 * groups from the front of the list, where whole programs and browsers wait for each other. The last process takes
 * groups from the end, where tests compute, so that the processors stay busy. Failed files run again when all have
 * ended.
 */
export async function runTestFiles(groups: readonly (readonly string[])[], options: RunOptions): Promise<RunOutcome> {
  const { root, concurrency = availableParallelism() + 2, timeLimitMs = 600_000, ...others } = options
  const { signal = new AbortController().signal } = others
  const results: FileResult[] = []
  const onFile = (result: FileResult): void => {
    results.push(result)
    printFile(result, root)
  }
  const waiting = [...groups]
  async function work(take: () => readonly string[] | undefined): Promise<void> {
    for (let files = take(); files !== undefined && !signal.aborted; files = take()) {
      await runTestProcess(files, { ...others, timeLimitMs, signal, onFile })
    }
  }
  const takeFirst = () => waiting.shift()
  const takeLast = () => waiting.pop()
  await Promise.all(Array.from({ length: concurrency }, (_, index) => work(index > 0 ? takeFirst : takeLast)))
  const repeated = await runAgain(results, {
    ...others,
    root,
    timeLimitMs,
    signal,
    onFile: (it) => printFile(it, root),
  })
  const last = repeated.flatMap((again) => again.last)
  for (const result of [...results, ...last]) printFailures(result, root)
  const counted = [...results.filter(({ file }) => !repeated.some((again) => again.file === file)), ...last]
  return {
    passed: sum(counted, 'passed'),
    failed: sum(counted, 'failed'),
    skipped: sum(counted, 'skipped'),
    flaky: repeated.filter(({ isFlaky }) => isFlaky).map(({ file }) => relative(root, file)),
  }
}

/** The last lines of a run: the flaky files where there are any, and the counts. */
export function summaryOf({ passed, failed, skipped, flaky }: RunOutcome): string {
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`
  return flaky.length === 0 ? counts : `flaky: ${flaky.join(', ')}\n${counts}`
}

/**
 * Whether a run is good. A few flaky files are no failure. Where everything is installed, as in CI, a skip hides
 * something and counts as a failure.
 */
export function isGood({ passed, failed, skipped, flaky }: RunOutcome, { ci }: { ci: boolean }): boolean {
  return passed > 0 && failed === 0 && flaky.length <= FLAKY_LIMIT_FILES && (skipped === 0 || !ci)
}

function printFile(result: FileResult, root: string): void {
  const { passed, failed, skipped, durationMs } = result
  if (passed + failed + skipped === 0) return
  const counts = [`${passed} passed`, failed && `${failed} failed`, skipped && `${skipped} skipped`].filter(Boolean)
  const mark = failed > 0 ? 'FAIL' : 'ok  '
  console.log(`${mark} ${relative(root, result.file)}  ${counts.join(', ')}  ${(durationMs / 1000).toFixed(1)} s`)
  for (const note of result.notes) console.log(`       ${note}`)
  for (const skip of result.skips) console.log(`       skipped ${skip}`)
  // In full at the end; where only a part of a long output is kept, this line tells what it was.
  for (const failure of result.failures) console.log(`       ✗ ${failure.split('\n', 2).join(': ')}`)
}

function printFailures(result: FileResult, root: string): void {
  if (result.failures.length === 0) return
  console.log(`\n━━ ${relative(root, result.file)}`)
  if (result.output) console.log(indent(stripVTControlCharacters(result.output).trimEnd(), '  │ '))
  for (const failure of result.failures) console.log(`\n  ✗ ${indent(failure, '    ').trimStart()}`)
}

function indent(text: string, by: string): string {
  return text.replace(/^/gm, by)
}

function sum(results: readonly FileResult[], key: keyof Counts): number {
  return results.reduce((total, result) => total + result[key], 0)
}

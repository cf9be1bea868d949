// Runs failed test files once more, each alone, to tell a broken file from a flaky one.

import { relative } from 'node:path'
import { type ProcessOptions, runTestProcess } from './test-process.ts'
import type { FileResult } from './test-results.ts'

/** A run with more flaky files than this has failed. */
export const FLAKY_LIMIT_FILES = 2
/** If more files failed, they share a cause, and none of them runs again. */
const AGAIN_LIMIT_FILES = 10
/** How often a file about loss runs again. It must pass each time, because it may lose data only rarely. */
const LOSS_RUNS = 3
/** Files about loss of records: kills, queues, damaged files and fault loops. */
const ABOUT_LOSS = new RegExp(
  [
    '^test/faults/',
    '^test/dtb/(again|damage|kill|salvage)',
    '^test/process/(destinations|full-speed|replaced-child|service|stop|traceback-full-disk|unruly-source)',
    '^packages/sdk/src/(delivery|link)/',
    '^packages/sdk/src/sinks/(files|ipc)/',
    '^packages/agent/src/service/',
    '^packages/console/server/store/',
  ].join('|'),
)

/** The results of a failed file in each of its runs. */
export interface RepeatedFile {
  readonly file: string
  readonly isFlaky: boolean
  /** The results of the last run: these count. */
  readonly last: readonly FileResult[]
}

/** Runs each failed file again and returns the results. `onFile` of the options gets every result too. */
export async function runAgain(
  results: readonly FileResult[],
  { root, ...options }: ProcessOptions & { readonly root: string },
): Promise<RepeatedFile[]> {
  const failed = new Set(results.filter((result) => result.failed > 0).map(({ file }) => file))
  if (failed.size === 0 || failed.size > AGAIN_LIMIT_FILES) return []
  console.log('\nRun again, each file alone:')
  const repeated: RepeatedFile[] = []
  for (const file of failed) {
    if (options.signal.aborted) break
    repeated.push(await repeat(file, ABOUT_LOSS.test(relative(root, file)) ? LOSS_RUNS : 1, options))
  }
  return repeated
}

/** Runs a file until it fails, and so many times at most. */
async function repeat(file: string, runs: number, options: ProcessOptions): Promise<RepeatedFile> {
  let last: FileResult[] = []
  const onFile = (result: FileResult): void => {
    last.push(result)
    options.onFile(result)
  }
  for (let run = 0; run < runs; run++) {
    last = []
    await runTestProcess([file], { ...options, onFile })
    if (last.some(({ failed }) => failed > 0)) return { file, isFlaky: false, last }
  }
  return { file, isFlaky: true, last }
}

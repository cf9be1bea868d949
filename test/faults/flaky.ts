// Runs one test file many times, to find out how often it fails.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../../scripts/setup.mjs'
import { runTestProcess } from '../../scripts/test-process.ts'
import type { FileResult } from '../../scripts/test-results.ts'
import { setUpTests } from '../../scripts/test-setup.ts'

/** A run that takes longer is ended, and has failed. Unit: milliseconds. */
const TIME_LIMIT_MS = 600_000

/** How often a file runs. */
export interface FlakyOptions {
  readonly rounds: number
  /** Each round draws other random input, from this seed on. Default: every round has the input of `npm test`. */
  readonly seed?: number
}

/** Runs a file alone in each round, prints its failures, and answers whether there was none. */
export async function runFlaky(file: string, { rounds, seed }: FlakyOptions): Promise<boolean> {
  if (!existsSync(join(root, file))) throw new Error(`there is no test file ${file}`)
  if (!(await setUpTests([file]))) throw new Error('the web page could not be built')
  const failed: string[] = []
  for (let round = 1; round <= rounds; round++) {
    if (seed !== undefined) process.env.SONDE_SEED = String(seed + round - 1)
    const name = `round ${round}${seed === undefined ? '' : ` with SONDE_SEED=${process.env.SONDE_SEED}`}`
    const results = await runOnce(join(root, file))
    const failures = results.flatMap((result) => result.failures)
    const seconds = results.reduce((sum, { durationMs }) => sum + durationMs, 0) / 1000
    console.log(`${failures.length > 0 ? 'FAIL' : 'ok  '} ${name}  ${seconds.toFixed(1)} s`)
    for (const failure of failures) console.log(`  ✗ ${failure}`)
    if (failures.length > 0) failed.push(name)
  }
  console.log(`${file} failed in ${failed.length} of ${rounds} rounds${failed.map((name) => `\n  ${name}`).join('')}`)
  return failed.length === 0
}

async function runOnce(file: string): Promise<FileResult[]> {
  const results: FileResult[] = []
  const { signal } = new AbortController()
  await runTestProcess([file], { timeLimitMs: TIME_LIMIT_MS, signal, onFile: (result) => results.push(result) })
  return results
}

import { test } from 'node:test'
import type { FaultLoop } from './loop.ts'
import { runLoop } from './run-loop.ts'

const SEED = Number(process.env.SONDE_FAULT_SEED ?? Date.now() % 1_000_000)

/** A test for each of the loops, one after the other. */
export function testLoops(loops: readonly FaultLoop[]): void {
  for (const { testRounds = 20, ...loop } of loops) {
    test(`${loop.name}: ${loop.what} (${testRounds} rounds, seed ${SEED})`, async (context) => {
      const { seen } = await runLoop(loop, testRounds, SEED)
      context.diagnostic(seen)
    })
  }
}

import { test } from 'node:test'
import { SEED } from '../../packages/sdk/test/random.ts'
import type { FaultLoop } from './loop.ts'
import { runLoop } from './run-loop.ts'

/** A test for each of the loops that has rounds in `npm test`, one after the other. */
export function testLoops(loops: readonly FaultLoop[]): void {
  for (const loop of loops.filter(({ testRounds }) => testRounds > 0)) {
    const name = `${loop.name}: ${loop.what} (${loop.testRounds} rounds, seed ${SEED})`
    test(name, async (context) => {
      const { seen } = await runLoop(loop, { rounds: loop.testRounds, seed: SEED, isGated: false })
      context.diagnostic(seen)
    })
  }
}

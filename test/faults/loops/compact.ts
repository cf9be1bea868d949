import { KilledStore } from '../../../packages/console/test/killed-store.ts'
import type { FaultLoop } from '../loop.ts'

/** Ends a store that compacts all the time, at a random moment. */
export const compact: FaultLoop = {
  name: 'compact',
  what: 'kill -9 of a store between any two writes while it moves records from its head into chunks: each acknowledged record is there, once, before and after the next compaction',
  testRounds: 4,
  async open() {
    const killed = new KilledStore()
    return {
      round: (random) => killed.round(random),
      async close() {
        killed.close()
        return `${killed.records} records, each once; files of the head were left ${killed.headsLeft} times`
      },
    }
  },
}

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { createStore } from '@sonde/console'
import { numbersIn, upTo } from '../../../packages/console/test/counted-records.ts'
import { startWriting } from '../../../packages/console/test/start-writing.ts'
import type { Random } from '../../../packages/sdk/test/random.ts'
import { temporaryDir, until } from '../../sonde-process.ts'
import type { FaultLoop } from '../loop.ts'

const WRITE_LIMIT_MS = 60_000

/** A store whose process is killed again and again while it writes and compacts. */
class KilledStore {
  readonly #folder = temporaryDir()
  readonly #path = join(this.#folder.path, 'store.db')
  /** Records that it holds. */
  records = 0
  /** Times it was killed with files of the head left that hold something. */
  headsLeft = 0

  /** Kills it between any two writes; each record that was acknowledged is there, once, also after compaction. */
  async round(random: Random): Promise<void> {
    const { child, state } = startWriting(this.#path, this.records, random.pick([0, 50, 400]))
    const enough = this.records + random.integer(1, 1500)
    const isEnough = () => state.acked >= enough || child.exitCode !== null
    try {
      await until('the child writes', WRITE_LIMIT_MS, isEnough)
    } finally {
      child.kill('SIGKILL')
      await once(child, 'close')
    }
    assert.equal(state.output, '')
    if (readdirSync(`${this.#path}-head`).length > 0) this.headsLeft++
    const store = await createStore({ path: this.#path })
    try {
      assert.deepEqual([store.status().state, store.status().reason], ['writing', ''])
      const numbers = await numbersIn(store)
      assert.deepEqual(numbers, upTo(numbers.length), 'no number is missing or there twice')
      assert.ok(numbers.length > state.acked, `${numbers.length} records, and ${state.acked} was acknowledged`)
      await store.maintain()
      assert.deepEqual(await numbersIn(store), numbers, 'after compaction too')
      assert.equal(store.status().corruptChunks, 0)
      this.records = numbers.length
    } finally {
      await store.close()
    }
  }

  close(): void {
    this.#folder.remove()
  }
}

/** Ends a store that compacts all the time, at a random moment. */
export const compact: FaultLoop = {
  name: 'compact',
  what: 'kill -9 of a store between any two writes while it moves records from its head into chunks: each acknowledged record is there, once, before and after the next compaction',
  testRounds: 2,
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

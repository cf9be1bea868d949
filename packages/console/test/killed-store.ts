import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { until } from '../../sdk/test/helper.ts'
import type { Random } from '../../sdk/test/random.ts'
import { createStore } from '../server/store/store.ts'
import { numbersIn, upTo } from './counted-records.ts'

const CHILD = fileURLToPath(new URL('store-child.ts', import.meta.url))
const WRITE_LIMIT_MS = 60_000

/** A process that writes; `acked` is the number of the last record that was acknowledged to it. */
export interface Writing {
  readonly child: ChildProcess
  readonly state: { acked: number; output: string }
}

/** Starts a process that writes numbered records from `first` on, and compacts each time it wrote `compactEvery`. */
export function startWriting(path: string, first: number, compactEvery: number): Writing {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, CHILD, path, String(first), String(compactEvery)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const state = { acked: first - 1, output: '' }
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line.startsWith('acked ')) state.acked = Number(line.slice(6))
  })
  child.stderr.on('data', (text: Buffer) => {
    state.output += text.toString()
  })
  return { child, state }
}

/** A store whose process is killed again and again while it writes and compacts. */
export class KilledStore {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sonde-kill-'))
  readonly #path = join(this.#folder, 'store.db')
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
      await until(`the child writes: ${state.output}`, isEnough, WRITE_LIMIT_MS)
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
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

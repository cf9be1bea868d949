import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { property, until } from '../../../sdk/test/helper.ts'
import { Counting, numbersIn, upTo } from '../../test/counted-records.ts'
import { openStore } from '../../test/open-store.ts'
import { settingsOf } from './config.ts'
import { EmbeddedStore } from './embedded-store.ts'
import { createStore } from './store.ts'

const CHILD = fileURLToPath(new URL('../../test/store-child.ts', import.meta.url))

/** A process that writes; `acked` is the number of the last record it was told to be safe. */
interface Writing {
  readonly child: ChildProcess
  readonly state: { open: boolean; acked: number; output: string }
}

function startWriting(path: string, first: number, compactEvery: number): Writing {
  const flags = ['--conditions=source', '--disable-warning=ExperimentalWarning']
  const child = spawn(process.execPath, [...flags, CHILD, path, String(first), String(compactEvery)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const state = { open: false, acked: first - 1, output: '' }
  createInterface({ input: child.stdout }).on('line', (line) => {
    if (line === 'open') state.open = true
    if (line.startsWith('acked ')) state.acked = Number(line.slice(6))
  })
  child.stderr.on('data', (text: Buffer) => {
    state.output += text.toString()
  })
  return { child, state }
}

property('whoever is killed between any two writes finds every acknowledged record again, once', 1, async (random) => {
  const folder = mkdtempSync(join(tmpdir(), 'sonde-kill-'))
  const path = join(folder, 'store.db')
  try {
    let first = 0
    for (let round = 0; round < 4; round++) {
      const { child, state } = startWriting(path, first, random.pick([0, 50, 400]))
      const enough = first + random.integer(1, 1500)
      try {
        await until(`the child writes: ${state.output}`, () => state.acked >= enough || child.exitCode !== null, 20_000)
      } finally {
        child.kill('SIGKILL')
        await once(child, 'close')
      }
      assert.equal(state.output, '')
      const store = await createStore({ path })
      try {
        assert.equal(store.status().state, 'writing')
        const numbers = await numbersIn(store)
        assert.deepEqual(numbers, upTo(numbers.length), 'no number is missing or there twice')
        assert.ok(numbers.length > state.acked, `${numbers.length} records, and ${state.acked} was acknowledged`)
        await store.maintain()
        assert.deepEqual(await numbersIn(store), numbers, 'after compaction too')
        first = numbers.length
      } finally {
        await store.close()
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a second process is told in one line that the file is in use, and the first goes on', async () => {
  const { path, close } = await openStore()
  try {
    const { child, state } = startWriting(path, 0, 0)
    await once(child, 'close')
    assert.equal(child.exitCode, 1)
    assert.match(state.output, /STO_LOCKED/)
    await assert.rejects(createStore({ path }), {
      code: 'STO_LOCKED',
      message: /is open in another process; stop that one/,
    })
  } finally {
    await close()
  }
})

test('a worker that dies or fails again and again loses nothing and writes nothing twice', async () => {
  const { store: first, path, close } = await openStore()
  await first.close()
  const worker = new URL('../../test/crashing-worker-main.ts', import.meta.url)
  const store = new EmbeddedStore(settingsOf({ path, flushIntervalMs: 10 }), worker)
  try {
    await store.opened
    const counting = new Counting(store)
    let failing = ''
    const faults: unknown[] = []
    store.onFault = (error) => faults.push(error)
    for (let page = 0; page < 12; page++) {
      counting.report(10)
      let isWritten = false
      const written = store.flush().then(() => {
        isWritten = true
      })
      await until('the page is written', () => {
        const { state, reason } = store.status()
        if (state === 'failing') failing = reason
        return isWritten
      })
      await written
    }
    assert.match(failing, /worker stopped .* started again/)
    assert.ok(faults.length > 0, 'half a message is a fault, and ends nothing')
    await until('the worker is up', () => store.status().state === 'writing')
    assert.deepEqual([store.stats.in, store.stats.out], [120, 120])
  } finally {
    await store.close()
  }
  const again = await createStore({ path })
  assert.deepEqual(await numbersIn(again), upTo(120))
  await again.close()
  await close()
})

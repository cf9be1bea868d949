import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { until } from '../../../sdk/test/helper.ts'
import { Counting, numbersIn, upTo } from '../../test/counted-records.ts'
import { openStore } from '../../test/open-store.ts'
import { startWriting } from '../../test/start-writing.ts'
import { storeSettings } from './config.ts'
import { EmbeddedStore } from './embedded-store.ts'
import { createStore } from './store.ts'

test('a second process is told in one line that the file is in use, and the first goes on', async () => {
  const { path, close } = await openStore()
  try {
    const { child, state } = startWriting(path, 0, 0)
    await once(child, 'close')
    assert.equal(child.exitCode, 1)
    assert.match(state.output, /STO_LOCKED/)
    await assert.rejects(createStore({ path }), {
      code: 'STO_LOCKED',
      message: /is open in another process; stop that process/,
    })
  } finally {
    await close()
  }
})

test('a worker that dies or fails again and again loses nothing and writes nothing twice', async () => {
  const { store: first, path, close } = await openStore()
  await first.close()
  const worker = new URL('../../test/crashing-worker-main.ts', import.meta.url)
  const store = new EmbeddedStore(storeSettings({ path, flushIntervalMs: 10 }), worker)
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

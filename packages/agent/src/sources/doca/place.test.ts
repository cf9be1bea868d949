import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocaDevice } from '../../native/doca/device.ts'
import type { Duty, SourceContext } from '../source.ts'
import { DocaPlace } from './place.ts'

test('a device whose call hangs is reported as gone once, and again when the next call hangs', async () => {
  const reasons: string[] = []
  let hang = Promise.withResolvers<void>()
  const duties: Duty[] = [{ device: 'mlx5_0', name: 'read', everyUs: 1000, run: () => hang.promise }]
  const place = new DocaPlace('mlx5_0', {
    context: {} as SourceContext,
    limitMs: 10,
    openDevice: async () => ({ close: async () => undefined }) as unknown as DocaDevice,
    openReader: async () => ({
      duties: () => duties,
      gone: (reason) => void reasons.push(reason),
      close: async () => undefined,
    }),
    refused: () => undefined,
    left: () => undefined,
    changed: () => undefined,
  })
  await place.duties()[0]?.run()
  for (const round of ['first', 'second']) {
    hang = Promise.withResolvers<void>()
    const read = place.duties()[0]?.run()
    // The host calls it at each tick of the duty, twenty times per second for a drain.
    await new Promise(setImmediate)
    for (let tick = 0; tick < 3; tick++) place.stuck(round)
    hang.resolve()
    await read
  }
  assert.deepEqual(reasons, ['first', 'second'])
})

test('a device is opened again if one duty always fails, whatever the others do', async () => {
  let openedCount = 0
  const usual = { device: 'mlx5_0', everyUs: 50_000 }
  const duties: Duty[] = [
    { ...usual, name: 'report', run: () => undefined },
    { ...usual, name: 'drain', run: () => Promise.reject(new Error('no answer')) },
  ]
  const place = new DocaPlace('mlx5_0', {
    context: {} as SourceContext,
    limitMs: 10,
    openDevice: async () => ({ close: async () => undefined }) as unknown as DocaDevice,
    openReader: async () => {
      openedCount++
      return { duties: () => duties, gone: () => undefined, close: async () => undefined }
    },
    refused: () => undefined,
    left: () => undefined,
    changed: () => undefined,
  })
  await place.duties()[0]?.run()
  for (let tick = 0; tick < 3; tick++) {
    await place.duties()[0]?.run()
    await assert.rejects(async () => place.duties()[1]?.run(), /no answer/)
  }
  assert.deepEqual(
    place.duties().map(({ name }) => name),
    ['open'],
  )
  await place.duties()[0]?.run()
  assert.equal(openedCount, 2)
})

test('what a reading reports after its device left is gone, too', async () => {
  const told: string[] = []
  const reading = Promise.withResolvers<void>()
  const report = () => reading.promise.then(() => void told.push('series'))
  const duties: Duty[] = [{ device: 'mlx5_0', name: 'read', everyUs: 1000, run: report }]
  const place = new DocaPlace('mlx5_0', {
    context: {} as SourceContext,
    limitMs: 10,
    openDevice: async () => ({ close: async () => undefined }) as unknown as DocaDevice,
    openReader: async () => ({
      duties: () => duties,
      gone: (reason) => void told.push(reason),
      close: async () => undefined,
    }),
    refused: () => undefined,
    left: (name) => void told.push(name),
    changed: () => undefined,
  })
  await place.duties()[0]?.run()
  const read = place.duties()[0]?.run()
  place.leave('removed')
  const [close] = place.duties()
  reading.resolve()
  await read
  await close?.run()
  assert.deepEqual(told, ['removed', 'mlx5_0', 'series', 'removed', 'mlx5_0'])
  assert.ok(place.isGone)
})

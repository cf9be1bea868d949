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
    // The host says so at each tick of the duty, which of a drain are twenty a second.
    await new Promise(setImmediate)
    for (let tick = 0; tick < 3; tick++) place.stuck(round)
    hang.resolve()
    await read
  }
  assert.deepEqual(reasons, ['first', 'second'])
})

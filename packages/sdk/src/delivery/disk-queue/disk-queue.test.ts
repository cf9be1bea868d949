import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { range, retry } from '../../../test/delivery-rig.ts'
import { durableRig } from '../../../test/durable-rig.ts'
import { temporaryFolder } from '../../../test/files-rig.ts'

test('records of an earlier process are sent first, in order, each once', async (t) => {
  const queueDir = temporaryFolder(t)
  const first = durableRig(t, { queueDir, closeTimeoutMs: 20 })
  first.answer = () => retry('away')
  for (let n = 0; n < 20; n++) first.accept(100)
  await first.sink.flush()
  await first.sink.close()
  assert.deepEqual([first.sink.queuedRecords, first.dropped], [2000, {}])
  const second = durableRig(t, { queueDir, serial: 2000 })
  second.accept(50)
  await second.drained()
  assert.deepEqual(second.taken, range(0, 2050))
  assert.deepEqual([second.sink.stats.in, second.sink.stats.out], [2050, 2050])
})

test('a queue whose records have all arrived leaves no segment', async (t) => {
  const queueDir = temporaryFolder(t)
  const rig = durableRig(t, { queueDir })
  for (let n = 0; n < 5; n++) rig.accept(10)
  await rig.drained()
  await rig.sink.close()
  assert.deepEqual(rig.taken, range(0, 50))
  assert.deepEqual(readdirSync(queueDir).sort(), ['.cursor', '.lock'])
})

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { range } from '../../test/delivery-rig.ts'
import { durableRig } from '../../test/durable-rig.ts'
import { temporaryFolder } from '../../test/files-rig.ts'
import { checkQueue } from './disk-queue/check-queue.ts'

/** Accepts serial numbers at the times that it is told, and calls process.exit. Nobody listens. */
const PROGRAM = `
  const { batchOf, retry } = await import('./packages/sdk/test/delivery-rig.ts')
  const { durableRig } = await import('./packages/sdk/test/durable-rig.ts')
  const [queueDir, first, when] = process.argv.slice(1)
  const rig = durableRig({ after: () => undefined }, { queueDir: queueDir || undefined, serial: Number(first) })
  rig.answer = () => retry('away')
  if (when === 'later') {
    rig.accept(100)
    await rig.sink.flush()
  }
  rig.accept(100)
  if (when !== 'at once') await new Promise(setImmediate)
  rig.accept(100)
  process.exit()
`
const cwd = fileURLToPath(new URL('../../../../', import.meta.url))
const FLAGS = ['--conditions=source', '--disable-warning=ExperimentalWarning', '--input-type=module']

test('process.exit right after records costs none of them, whether the queue was open, opened or not', async (t) => {
  const queueDir = temporaryFolder(t)
  let reported = 0
  for (const when of ['later', 'at once', 'soon']) {
    const args = [...FLAGS, '--eval', PROGRAM, queueDir, `${reported}`, when]
    const { stderr } = await promisify(execFile)(process.execPath, args, { cwd })
    assert.equal(stderr, '')
    reported += when === 'later' ? 300 : 200
    const { in: records, queued, faults } = await checkQueue(queueDir)
    assert.deepEqual([records, queued, faults], [reported, reported, []])
  }
  const rig = durableRig(t, { queueDir })
  await rig.queue.lastPage(1n)
  await rig.drained()
  assert.deepEqual(rig.taken, range(0, reported))
  assert.deepEqual(
    readdirSync(queueDir).filter((name) => name.endsWith('.late')),
    [],
  )
})

test('process.exit with a queue in memory reports how many records may be lost', async () => {
  const program = `
    const { Rig } = await import('./packages/sdk/test/delivery-rig.ts')
    new Rig({ lingerMs: 1000 }).accept(7)
    process.exit()
  `
  const { stderr } = await promisify(execFile)(process.execPath, [...FLAGS, '--eval', program], { cwd })
  assert.match(stderr, /TEL_LOST.* 7 records are not acknowledged and may be lost/)
})

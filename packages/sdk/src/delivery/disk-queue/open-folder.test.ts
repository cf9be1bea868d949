import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { durableRig } from '../../../test/durable-rig.ts'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { sondeError } from '../../../test/helper.ts'
import { createSchema } from '../../telemetry/schema.ts'

test('a program does not start with the folder of another queue, and does when that is closed', async (t) => {
  const queueDir = temporaryFolder(t)
  const other = durableRig(t, { queueDir })
  other.accept(1)
  await other.drained()
  const program = () => createSchema({ name: 'app', export: { jsonl: { url: 'http://127.0.0.1:1', queueDir } } })
  await assert.rejects(program().start(), sondeError('QUE_LOCKED', /is in use by another process; give each/))
  await other.sink.close()
  const started = program()
  await started.start()
  await started.close()
})

test('a program does not start with a link as the folder of dead letters', async (t) => {
  const folder = temporaryFolder(t)
  const deadLetters = join(folder, 'link')
  symlinkSync(temporaryFolder(t), deadLetters)
  const schema = createSchema({ name: 'app', export: { jsonl: { url: 'http://127.0.0.1:1', deadLetters } } })
  await assert.rejects(schema.start(), sondeError('QUE_FOLDER', /which is a link; allowed: a folder/))
})

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createFiles, DtbDecoder, openDtb } from '@sonde/sdk'
import { sondeRead, temporaryFolder, writePorts } from './sonde-read.ts'

test('batches of a file are like any other: a sink that is given them writes the same records', async (t) => {
  const dir = temporaryFolder(t)
  const first = join(dir, 'first')
  const second = join(dir, 'second')
  await writePorts(first, 3000, [{ id: 'node1', tag: 'a' }], { maxBytes: 20_000 })
  const sink = createFiles({ dataRoot: second })
  for (const path of readdirSync(first, { recursive: true, encoding: 'utf8' }).sort()) {
    if (!path.endsWith('.bin')) continue
    const file = openDtb(join(first, path))
    const decoder = new DtbDecoder(file)
    for (let step = decoder.next(); step.kind !== 'stop'; step = decoder.next()) {
      if (step.kind === 'records') sink.accept(step.batch)
    }
    file.close()
  }
  await sink.close()
  const [one, other] = [sondeRead(first), sondeRead(second)]
  assert.deepEqual([one.code, other.code, other.stderr], [0, 0, ''])
  assert.equal(one.stdout.split('\n').length, 3301)
  assert.equal(other.stdout, one.stdout)
})

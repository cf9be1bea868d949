import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { sampleFile } from '../../../test/dtb-sample.ts'
import { Random } from '../../../test/random.ts'
import { DtbDecoder } from '../../wire/dtb/decode.ts'
import { openDtb } from './open-dtb.ts'

function temporaryDir(t: TestContext): string {
  const dir = mkdtempSync(join(tmpdir(), 'sonde-dtb-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

test('any stretch of a file is read, and no more than there is', (t) => {
  const path = join(temporaryDir(t), 'file')
  const bytes = Buffer.from(Array.from({ length: 3 << 20 }, (_, i) => (i * 31) % 251))
  writeFileSync(path, bytes)
  const file = openDtb(path)
  const random = new Random(1)
  for (let i = 0; i < 200; i++) {
    const at = random.integer(0, bytes.length + 10)
    const wanted = random.integer(0, random.pick([64, 60_000, 2 << 20]))
    assert.ok(bytes.subarray(at, at + wanted).equals(file.read(at, wanted)))
  }
  file.close()
  file.close()
})

test('a file that grows is read on after a refresh', async (t) => {
  const path = join(temporaryDir(t), 'file')
  const { bytes, blocks } = await sampleFile(new Random(2), 50)
  writeFileSync(path, bytes.subarray(0, 0))
  const file = openDtb(path)
  const decoder = new DtbDecoder(file)
  let count = 0
  for (let at = 0; at < bytes.length; at += 100) {
    appendFileSync(path, bytes.subarray(at, at + 100))
    file.refresh()
    while (decoder.next().kind !== 'stop') count++
  }
  file.close()
  assert.equal(count, blocks.length - 1)
})

test('what is no file is refused, and not waited for', (t) => {
  const dir = temporaryDir(t)
  execFileSync('mkfifo', [join(dir, 'fifo')])
  for (const path of [dir, join(dir, 'fifo'), join(dir, 'nothing')]) {
    assert.throws(() => openDtb(path), { code: 'DTB_READ' })
  }
})

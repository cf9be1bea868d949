import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'
import { temporaryFolder } from '../../test/files-rig.ts'
import { until } from '../../test/helper.ts'
import { Disk } from './disk.ts'

/** Calls to a disk that hang in their threads until `answer`. */
function hanging(t: TestContext, disk: Disk) {
  const path = join(temporaryFolder(t), 'hangs')
  execFileSync('mkfifo', [path])
  // Whoever opens it to read waits, in the thread of the call, until somebody writes.
  const opening = Array.from({ length: 16 }, () => disk.open(path, 'r'))
  const answer = async () => {
    const writer = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
    for (const file of await Promise.all(opening)) await file.close()
    closeSync(writer)
  }
  return { path, answer }
}

function diskOf(t: TestContext): Disk {
  const disk = new Disk()
  t.after(() => disk.leave())
  return disk
}

test('calls to a disk that hangs leave a thread to everything else, and go on when it answers', async (t) => {
  const disk = diskOf(t)
  const { path, answer } = hanging(t, disk)
  const packed = await promisify(gzip)('answered')
  assert.equal(gunzipSync(packed).toString(), 'answered')
  assert.ok((await stat(path)).isFIFO())
  await until('the silence is seen', () => disk.silentMs > 100)
  await answer()
  assert.equal(disk.silentMs, 0)
})

test('a disk that hangs leaves a call to every other', async (t) => {
  const [bad, worse, good] = [diskOf(t), diskOf(t), diskOf(t)]
  const hangs = [hanging(t, bad), hanging(t, worse)]
  const folder = temporaryFolder(t)
  await Promise.all(Array.from({ length: 8 }, () => good.entriesIn(folder)))
  await until('their silence is seen', () => bad.silentMs > 0 && worse.silentMs > 0)
  assert.equal(good.silentMs, 0)
  for (const { answer } of hangs) await answer()
  assert.deepEqual([bad.silentMs, worse.silentMs], [0, 0])
})

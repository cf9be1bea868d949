import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'
import { temporaryFolder } from '../../../test/files-rig.ts'
import { until } from '../../../test/helper.ts'
import { open, silentMs } from './disk.ts'

test('calls to a disk that hangs leave a thread to everything else, and go on when it answers', async (t) => {
  const fifo = join(temporaryFolder(t), 'hangs')
  execFileSync('mkfifo', [fifo])
  // Whoever opens it to read waits, in the thread of the call, until somebody writes.
  const opening = Array.from({ length: 16 }, () => open(fifo, 'r'))
  const packed = await promisify(gzip)('answered')
  assert.equal(gunzipSync(packed).toString(), 'answered')
  assert.ok((await stat(fifo)).isFIFO())
  await until('the silence is seen', () => silentMs() > 100)
  const writer = openSync(fifo, constants.O_RDWR | constants.O_NONBLOCK)
  const files = await Promise.all(opening)
  for (const file of files) await file.close()
  closeSync(writer)
  assert.equal(silentMs(), 0)
})
